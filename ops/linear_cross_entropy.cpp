// The loss of softmax_cross_entropy on fc(x), plus z_loss * lse^2, without the logits [rows, V]: they are computed for
// some rows at a time, in the workspace, and become their own gradient there, from which those of x, weight and bias
// follow before the next rows take their place. lse is the log of the sum of e^logits of a row, right is 1 where the
// label is the first of the largest logits. Labels count as in softmax_cross_entropy.
//
// There are ops for the loss, for the gradient, and for both at no more than the gradient's cost (join_gradients).
#include <algorithm>
#include <type_traits>
#include <vector>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/checked.h"
#include "framework/language/block_formats.h"
#include "framework/language/op_attrs.h"
#include "framework/language/weight_blocks.h"
#include "kernels/gemm/head_products.h"
#include "kernels/gemm/weight_blocks.h"
#include "kernels/reduce/head_bias.h"
#include "kernels/reduce/head_rows.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

/// Inputs, the same of all three ops; the second needs `lse`, the third does not.
enum HeadInput { kX, kWeight, kBias, kLabel, kDLoss, kLse };

HeadSizes head_sizes(const InferArgs& args) {
  const std::int64_t classes = args.in(kWeight).shape[0];
  return {.rows = elements(args.in(kLabel).shape),
          .width = args.in(kWeight).shape[1],
          .classes = classes,
          .smoothing = args.op.attrs.number("label_smoothing", 0),
          .z = args.op.attrs.number("z_loss", 0),
          .stride = classes};
}

/// What an op gives, in the order of its outputs: loss, lse and right; gradients of weight and x; with a gradient and a
/// bias also that of the bias.
struct HeadGives {
  bool loss = false, dweight = false, dx = false;
  constexpr bool gradient() const { return dweight || dx; }
  constexpr int products() const { return 1 + dweight + dx; }
};
constexpr HeadGives kHeadLoss{.loss = true}, kHeadGradients{.dweight = true, .dx = true}, kHeadDWeight{.dweight = true},
    kHeadDx{.dx = true};

template <class Device, class T>
class Head final : public Kernel {
 public:
  Head(const PrepareArgs& args, HeadGives gives)
      : s_(head_sizes({args.program, args.op})),
        gives_(gives),
        dtype_(args.in(kX).dtype),
        of_weight_(args.in(kWeight).dtype),
        in_blocks_(args.op.attrs.flag(kWeightBlocks, false)),
        has_bias_(args.has_in(kBias)),
        wide_(args.op.attrs.flag(kWideOutput, false)) {
    if (kOnGpu) s_.stride = round_up(s_.classes, kGpuAlignment / bytes_of(dtype_));
    const std::int64_t at_once = rows_of_logits_at_once(s_.rows, s_.stride, dtype_, args.device.kind);
    std::int64_t inner = 0;
    for (std::int64_t first = 0; first < s_.rows; first += at_once) {
      const std::int64_t rows = std::min(at_once, s_.rows - first);
      const bool again = chunks_.size() > 1 && chunks_.back().rows == rows;  // then its products are equal
      chunks_.push_back({first, rows, again ? chunks_.back().products : products_of(rows, first > 0, args.device)});
      inner = std::max(inner, chunks_.back().products->workspace_bytes());
    }
    logits_ = layout_.template add_array<T>(at_once * s_.stride);
    sums_ = layout_.template add_array<double>(gives_.gradient() && has_bias_ ? s_.classes : 0);
    inner_ = layout_.add(inner);
  }

  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  std::int64_t bytes_again() const override {
    const std::int64_t element = bytes_of(dtype_), chunks = std::ssize(chunks_), weight = s_.classes * s_.width;
    const bool once = reads_once(Device{}, HeadRow<T>{.s = s_}, s_.classes);
    const int own = once ? 1 + gives_.gradient() : 2 * (gives_.loss + gives_.gradient());
    const std::int64_t logits = (gives_.products() + own) * s_.rows * s_.classes * element;
    const std::int64_t of_dx = ((gives_.dx ? 2 : 1) * chunks - 1) * bytes_of(of_weight_, {s_.classes, s_.width});
    if (!gives_.dweight) return logits + of_dx;
    const std::int64_t dweight = weight * bytes_of(wide_ ? wide_of(dtype_) : dtype_);
    return logits + of_dx + s_.rows * s_.width * element + 2 * (chunks - 1) * dweight;
  }
  std::string implementation() const override { return chunks_.front().products->implementation(); }

  void run(const KernelArgs& args) const override {
    for (const Chunk& chunk : chunks_) {
      const T* const x = args.in<T>(kX) + chunk.first * s_.width;
      T* const logits = logits_.at<T>(args);
      KernelArgs inner = args;
      inner.workspace = inner_.at(args);
      chunk.products->give_logits(inner, x, args.inputs[kWeight], has_bias_ ? args.inputs[kBias] : nullptr, logits);
      for_each_row(Device{}, args.stream, chunk.rows, s_.classes, row_of(args, chunk, logits));
      if (!gives_.gradient()) continue;
      void* const* gradient = args.outputs + (gives_.loss ? 3 : 0);
      void* const dweight = gives_.dweight ? *gradient++ : nullptr;
      T* const dx = gives_.dx ? static_cast<T*>(*gradient++) + chunk.first * s_.width : nullptr;
      chunk.products->give_gradients(inner, logits, x, args.inputs[kWeight], dweight, dx);
      if (has_bias_) add_bias(args, chunk, logits, static_cast<T*>(*gradient));
    }
  }

 private:
  static constexpr bool kOnGpu = !std::is_same_v<Device, Cpu>;
  struct Chunk {
    std::int64_t first, rows;
    std::shared_ptr<const HeadProducts> products;
  };
  std::shared_ptr<const HeadProducts> products_of(std::int64_t rows, bool adds_dweight,
                                                  const DeviceInfo& device) const {
    return std::make_shared<HeadProducts>(HeadProductSizes{.rows = rows,
                                                           .width = s_.width,
                                                           .classes = s_.classes,
                                                           .stride = s_.stride,
                                                           .of_weight = of_weight_,
                                                           .in_blocks = in_blocks_,
                                                           .bias = has_bias_,
                                                           .dweight = gives_.dweight,
                                                           .dx = gives_.dx,
                                                           .wide_dweight = wide_,
                                                           .adds_dweight = adds_dweight},
                                          dtype_, device);
  }

  HeadRow<T> row_of(const KernelArgs& args, const Chunk& chunk, T* logits) const {
    using C = Compute<T>;
    HeadRow<T> row{.s = s_, .first = chunk.first, .logits = logits, .label = args.in<std::int32_t>(kLabel)};
    if (gives_.gradient()) row.dloss = args.in<C>(kDLoss);
    if (gives_.loss)
      row.loss = args.out<C>(0), row.lse = args.out<C>(1), row.right = args.out<std::uint8_t>(2);
    else
      row.known = args.in<C>(kLse);
    return row;
  }

  void add_bias(const KernelArgs& args, const Chunk& chunk, const T* gradient, T* dbias) const {
    constexpr int kWidth = kOnGpu ? 1 : 64;
    parallel_for(Device{}, args.stream, (s_.classes + kWidth - 1) / kWidth,
                 HeadBias<T, kWidth>{chunk.rows, s_.classes, s_.stride, gradient, chunk.first == 0,
                                     chunk.first + chunk.rows == s_.rows, sums_.at<double>(args), dbias},
                 1);
  }

  HeadSizes s_;
  HeadGives gives_;
  DType dtype_, of_weight_;
  bool in_blocks_, has_bias_, wide_;
  std::vector<Chunk> chunks_;
  WorkspaceLayout layout_{kOnGpu ? kGpuAlignment : kVectorAlignment};
  WorkspacePart logits_, sums_, inner_;
};

/// One function for both devices, as those of libraries: on a GPU its products need one that is there or described.
template <HeadGives G>
std::unique_ptr<Kernel> prepare_head(const PrepareArgs& args) {
  return for_float(args.in(kX).dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
#ifdef LETHE_DEVICE_CODE
    if (args.device.kind == DeviceKind::Cuda) return std::make_unique<Head<Cuda, T>>(args, G);
#endif
    return std::make_unique<Head<Cpu, T>>(args, G);
  });
}

std::vector<Type> head_loss_types(const InferArgs& args) {
  const Var &x = args.in(kX), &weight = args.in(kWeight);
  const std::string& type = args.op.type;
  check(x.shape.size() >= 2 && weight.shape.size() == 2 && x.shape.back() == weight.shape[1], type, ": x is ",
        text_of(x), ", weight ", text_of(weight), ", expected [rows, .., C] and [V,C]");
  if (!is_widened(weight, x.dtype)) check_input(args, kWeight, {weight.shape, x.dtype});
  check_input(args, kBias, {{weight.shape[0]}, x.dtype});
  const Shape rows(x.shape.begin(), x.shape.end() - 1);
  check_input(args, kLabel, {rows, DType::i32});
  const HeadSizes s = head_sizes(args);
  check(s.smoothing >= 0 && s.smoothing < 1, type, ": label_smoothing is ", s.smoothing, ", expected 0 to below 1");
  check(s.z >= 0, type, ": z_loss is ", s.z, ", expected at least 0");
  const DType wide = wide_of(x.dtype);
  return {{rows, wide}, {rows, wide}, {rows, DType::u8}};
}

template <HeadGives G>
std::vector<Type> head_types(const InferArgs& args) {
  std::vector<Type> types = head_loss_types(args);
  for (const int slot : {kDLoss, kLse}) check_input(args, slot, types.front());
  if (!G.loss) types.clear();
  const Var &x = args.in(kX), &weight = args.in(kWeight);
  const DType of_weight = args.op.attrs.flag(kWideOutput, false) ? wide_of(x.dtype) : x.dtype;
  if (G.dweight) types.push_back({weight.shape, of_weight});
  if (G.dx) types.push_back({x.shape, x.dtype});
  if (args.has_in(kBias)) types.push_back({args.in(kBias).shape, x.dtype});
  return types;
}

template <HeadGives G>
std::int64_t head_mult_adds(const InferArgs& args) {
  const std::int64_t one = checked_mul(elements(args.in(kX).shape), args.in(kWeight).shape[0], "multiply-adds");
  return checked_mul(one, G.products(), "multiply-adds");
}

int converted_weight(const Program& program, const Op& op, DType of_weight) {
  const DType dtype = program.vars[op.in[kX]].dtype;
  return dtype == DType::f32 || (is_in_blocks(of_weight) && dtype != DType::f64) ? kWeight : -1;
}

void head_gradient(GradBuilder& g) {
  check(g.dy(0) != kNone && g.dy(1) == kNone, "linear_cross_entropy: no gradient through lse as an output");
  std::vector<int> slots;  // of the gradients, in their order
  if (g.wants(kWeight)) slots.push_back(kWeight);
  if (g.wants(kX) || slots.empty()) slots.push_back(kX);
  const char* const type = slots.size() == 2          ? "linear_cross_entropy_grad"
                           : slots.front() == kWeight ? "linear_cross_entropy_weight_grad"
                                                      : "linear_cross_entropy_x_grad";
  if (g.x(kBias) != kNone) slots.push_back(kBias);
  std::vector<VarId> like;
  for (const int slot : slots) like.push_back(g.x(slot));
  const std::vector<VarId> made =
      g.call_all(type, {g.x(kX), g.x(kWeight), g.x(kBias), g.x(kLabel), g.dy(0), g.y(1)}, g.attrs(), like);
  for (std::size_t i = 0; i < slots.size(); ++i) g.set(slots[i], made[i]);
}

VarId build_head(LayerCall& c) {
  const std::int64_t classes = c.settings().integer("out"), width = c.channels();
  const Init xavier{.kind = Init::Xavier, .fan_in = width, .fan_out = classes};
  const VarId weight = c.param("weight", {classes, width}, c.init("init", xavier), true);
  const VarId bias = c.settings().flag("bias") ? c.param("bias", {classes}, {}, false) : kNone;
  Attrs attrs;
  for (const char* key : {"label_smoothing", "z_loss"})
    if (const double value = c.settings().number(key); value != 0) attrs.set(key, value);
  return c.emit("linear_cross_entropy", {c.in(0), weight, bias, c.in(1)}, attrs);
}

const Register linear_cross_entropy{{
    .type = "linear_cross_entropy",
    .inputs = {"x", "weight", "bias?", "label"},
    .outputs = {"loss", "lse", "right"},
    .infer = head_loss_types,
    .grad = head_gradient,
    .mult_adds = head_mult_adds<kHeadLoss>,
    .rounds = converted_weight,
    .kernels = library_kernels(prepare_head<kHeadLoss>),
    .layer =
        {.name = "linear_cross_entropy",
         .keys = {{.name = "out", .min = 1, .help = "classes"},
                  {.name = "bias", .type = KeyType::Bool, .absent = 0},
                  {.name = "label_smoothing", .type = KeyType::Number, .absent = 0.0, .min = 0, .below = 1},
                  {.name = "z_loss",
                   .type = KeyType::Number,
                   .absent = 0.0,
                   .min = 0,
                   .help = "times the square of the log of the sum of e^logits, added to the loss"},
                  {.name = "init", .type = KeyType::Init, .help = "of the weight; default xavier", .optional = true},
                  share_key()},
         .min_inputs = 2,
         .max_inputs = 2,
         .build = build_head,
         .help = "fc on the last axis and cross_entropy in one, without the logits; for each label its loss"},
}};

/// The gradient, and the op that gives the loss, too.
template <HeadGives G>
struct RegisterHeadGradient {
  RegisterHeadGradient(const char* type, const char* joined) {
    std::vector<std::string> outputs = {"dweight", "dx", "dbias..."};
    if (!G.dx) outputs.erase(outputs.begin() + 1);
    if (!G.dweight) outputs.erase(outputs.begin());
    constexpr HeadGives kAll{.loss = true, .dweight = G.dweight, .dx = G.dx};
    OpDef both{.type = joined,
               .inputs = {"x", "weight", "bias?", "label", "dloss"},
               .outputs = {"loss", "lse", "right"},
               .infer = head_types<kAll>,
               .mult_adds = head_mult_adds<G>,
               .rounds = converted_weight,
               .kernels = library_kernels(prepare_head<kAll>)};
    both.outputs.insert(both.outputs.end(), outputs.begin(), outputs.end());
    OpDef alone{.type = type,
                .inputs = {"x", "weight", "bias?", "label", "dloss", "lse"},
                .outputs = outputs,
                .infer = head_types<G>,
                .joined = joined,
                .mult_adds = head_mult_adds<G>,
                .widens = G.dweight,
                .rounds = converted_weight,
                .kernels = library_kernels(prepare_head<G>)};
    constexpr int kDx = G.dweight ? 1 : 0;  // of `outputs`; rows of x are read before those of dx are written
    if (G.dx) both.inplace = {{.in = kX, .out = 3 + kDx}}, alone.inplace = {{.in = kX, .out = kDx}};
    for (OpDef* const def : {&both, &alone}) Register{std::move(*def)};
  }
};

const RegisterHeadGradient<kHeadGradients> head_gradient_of_both("linear_cross_entropy_grad",
                                                                 "linear_cross_entropy_and_grad");
// Where the other is frozen, or an input.
const RegisterHeadGradient<kHeadDx> head_gradient_of_x("linear_cross_entropy_x_grad",
                                                       "linear_cross_entropy_and_x_grad");
const RegisterHeadGradient<kHeadDWeight> head_gradient_of_weight("linear_cross_entropy_weight_grad",
                                                                 "linear_cross_entropy_and_weight_grad");

}  // namespace
}  // namespace lethe
