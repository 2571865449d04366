// The forward half: modules in the order in which their containers call them.
#include <algorithm>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "train/optnet/torch_draft.h"

namespace lethe {
namespace {

class Forward {
 public:
  explicit Forward(TorchDraft& draft)
      : draft_(draft), from_(draft.network.program), to_(draft.made.program), net_(draft.made.net) {}

  void call(int m) {
    const TorchModule& module = net_.modules[m];
    for (const int child : module.children) call(child);
    const std::size_t first = to_.blocks[0].ops.size();
    if (module.op >= 0) {
      with_context(from_.vars[module.out].name, [&] { emit(m, from_.blocks[0].ops[module.op]); });
      draft_.hold(module.out, TorchHolds::Output, draft_.made.storages.output[m][0].storage);
    }
    draft_.ops[m] = {first, to_.blocks[0].ops.size()};
  }

 private:
  void emit(int m, const Op& op) {
    const bool training = draft_.options.training, nn = !is_cudnn(draft_.options.backend, net_.modules[m].type);
    switch (net_.modules[m].type) {
      case TorchClass::Convolution:
        // A grouped convolution keeps its columns too, but as a var that no op touches.
        if (nn && op.attrs.integer("groups", 1) == 1) return emit_unfolded(m, op);
        return draft_.append(op);
      case TorchClass::MaxPooling:
        return nn ? emit_max_pool(m, op) : draft_.append({"max_pool_value", op.in, {op.out[0]}, op.attrs});
      case TorchClass::Dropout:
        return training ? draft_.append(op) : draft_.append({kAssign, {op.in[0]}, {op.out[0]}});
      case TorchClass::BatchNormalization:
        return training ? emit_batch_norm(m, op) : emit_batch_norm_inference(op);
      default:
        return draft_.append(op);
    }
  }

  /// One product of the unfolded image and the weights as a matrix, bias included.
  void emit_unfolded(int m, const Op& op) {
    const Var &weight = from_.vars[op.in[1]], &out = from_.vars[op.out[0]];
    const auto call = [&](const char* type, std::vector<VarId> in, Attrs attrs, const std::string& name) {
      return append_op(to_, 0, Role::Forward, type, std::move(in), std::move(attrs), name).front();
    };
    Attrs windows = op.attrs;
    windows.set("kernel", Ints{weight.shape[1], weight.shape[2]});
    const VarId columns = call("unfold", {op.in[0]}, windows, out.name + ".finput");
    const Ints matrix{weight.shape[0], weight.shape[1] * weight.shape[2] * weight.shape[3]};
    const VarId rows = call(kReshape, {op.in[1]}, {{"shape", matrix}}, weight.name + ".matrix");
    const VarId product = call("fc", {columns, rows, op.in[2]}, {}, out.name + ".matrix");
    draft_.append({kReshape, {product}, op.out, {{"shape", Ints(out.shape)}}});
    draft_.set_field(m, "finput", columns);
  }

  void emit_max_pool(int m, const Op& op) {
    Attrs attrs = op.attrs;
    const DType dtype = from_.vars[op.in[0]].dtype;
    attrs.set("index", std::string(name_of(dtype)));
    draft_.append({op.type, op.in, op.out, attrs});
    const VarId index = op.out[1];
    to_.vars[index].dtype = dtype;
    draft_.set_field(m, "indices", index);
  }

  void emit_batch_norm(int m, const Op& op) {
    draft_.append(op);
    draft_.set_field(m, "save_mean", op.out[1]);
    draft_.set_field(m, "save_std", op.out[2]);
  }

  void emit_batch_norm_inference(const Op& op) {
    const std::vector<Op>& ops = from_.blocks[0].ops;
    const auto update = std::find_if(ops.begin(), ops.end(), [&](const Op& other) {
      return other.type == "batch_norm_update" && other.in[2] == op.out[1];
    });
    check(update != ops.end(), "has no running statistics");
    draft_.append(
        {"batch_norm_inference", {op.in[0], op.in[1], op.in[2], update->in[0], update->in[1]}, {op.out[0]}, op.attrs});
  }

  TorchDraft& draft_;
  const Program& from_;
  Program& to_;
  const TorchNet& net_;
};

}  // namespace

void lower_forward(TorchDraft& draft) { Forward(draft).call(draft.made.net.root); }

}  // namespace lethe
