// The tensors that modules keep for themselves, class by class.
#include "train/optnet/optnet_count.h"

namespace lethe {
namespace {

class ModuleBuffers {
 public:
  ModuleBuffers(const Program& program, const TorchNet& net, TorchBackend backend, bool training)
      : program_(program), net_(net), backend_(backend), training_(training) {}

  void add_fields(int m, std::int64_t slice_copy, const TorchNotes& notes);
  void add(const char* field, int module, std::int64_t elements, bool shareable = false) {
    if (elements > 0) all_.push_back({field, module, elements, shareable});
  }
  std::vector<TorchBuffer> take() { return std::move(all_); }

 private:
  const Shape& shape(VarId v) const { return program_.vars[v].shape; }
  void add_convolution(int m, const TorchModule& module);

  const Program& program_;
  const TorchNet& net_;
  TorchBackend backend_;
  bool training_;
  std::vector<TorchBuffer> all_;
};

void ModuleBuffers::add_convolution(int m, const TorchModule& module) {
  if (backend_ == TorchBackend::Cudnn) {
    if (training_) add("scaleT", m, 1);
    return;
  }
  const Op& op = program_.blocks[0].ops[module.op];
  const Shape &out = shape(module.out), &weight = shape(op.in[1]);
  // A column of kernel height x width x channels for each output pixel, 1x1 kernels included.
  const std::int64_t unfolded =
      elements({out[0], out[1], out[2], weight[1], weight[2], weight[3], op.attrs.integer("groups", 1)});
  add("finput", m, unfolded, !training_);
  if (training_) add("fgradInput", m, unfolded, true);
}

void ModuleBuffers::add_fields(int m, std::int64_t slice_copy, const TorchNotes& notes) {
  const TorchModule& module = net_.modules[m];
  const bool nn = !is_cudnn(backend_, module.type);
  switch (module.type) {
    case TorchClass::Convolution:
      add_convolution(m, module);
      break;
    case TorchClass::MaxPooling:
      if (nn) add("indices", m, elements(shape(module.out)), !training_);
      break;
    case TorchClass::Normalization:
      if (nn) add("scale", m, elements(shape(module.out)), !training_);
      break;
    case TorchClass::Linear:
      // Ones that spread the bias over the rows; a vector needs none.
      if (const std::int64_t batch = shape(module.out)[0]; batch > 1 || !notes.view_drops_batch_of_one)
        add("addBuffer", m, batch);
      break;
    case TorchClass::BatchNormalization:
      for (const char* field : {"running_mean", "running_var", "save_mean", "save_std"})
        add(field, m, shape(module.out).back());
      break;
    case TorchClass::Dropout:
      if (training_) add("noise", m, elements(shape(module.out)));
      break;
    default:
      break;
  }
  if (training_) add("_gradOutput", m, slice_copy);
}

}  // namespace

std::vector<TorchBuffer> torch_buffers(const Program& program, const TorchNet& net, const TorchStorages& storages,
                                       TorchBackend backend, bool training, const TorchNotes& notes) {
  ModuleBuffers buffers(program, net, backend, training);
  for (int m = 0; m < std::ssize(net.modules); ++m) buffers.add_fields(m, storages.slice_copy[m], notes);
  if (backend == TorchBackend::Cudnn) buffers.add("workspace", -1, 1);
  return buffers.take();
}

}  // namespace lethe
