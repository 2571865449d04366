// The gradient of batch_norm: of x, scale and bias. Where relu stands after the norm, or after a sum with it, a mask
// stands before: with attribute `masked`, and in batch_norm_join_grad, that is done on the way.
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/norm/batch_grad.h"
#include "kernels/norm/join_grad.h"
#include "kernels/norm/map.h"
#include "kernels/reduce/sums.h"

namespace lethe {
namespace {

constexpr const char* kMasked = "masked";
constexpr int kDy = 4;            // slots of both ops
constexpr int kBias = 5;          // of batch_norm_grad
constexpr int kY = 5, kMore = 6;  // of batch_norm_join_grad

/// What all forms share.
template <class T>
class NormGradient {
 public:
  using C = Compute<T>;
  /// `arrays`: of one value a channel: factor, of_x, rest and, where it is needed, offset.
  template <class Device>
  NormGradient(Device device, const PrepareArgs& args, int arrays)
      : plan_(plan_sum(device, args.device, channels_of(args.in(0).shape), args.in(0).dtype)),
        eps_(args.op.attrs.number("eps")),
        has_scale_(args.has_in(1)),
        fixed_(args.op.attrs.flag("fixed", false)),
        has_offset_(arrays > 3),
        space_(plan_, 2, arrays) {}

  std::int64_t workspace() const { return space_.bytes(); }
  const SumPlan& plan() const { return plan_; }
  NormalColumns<C> columns(const KernelArgs& a, const C* bias) const {
    return {
        .eps = eps_, .scale = has_scale_ ? a.in<C>(1) : nullptr, .bias = bias, .mean = a.in<C>(2), .var = a.in<C>(3)};
  }
  C* factor(const KernelArgs& a) const { return space_.array(a, 0); }
  C* offset(const KernelArgs& a) const { return has_offset_ ? space_.array(a, 3) : nullptr; }

  /// What is after the sums: dscale, dbias and dx.
  GradFactors<C> finish(const KernelArgs& a, const NormalColumns<C>& of) const {
    return {.count = static_cast<double>(plan_.extent.middle),
            .eps = eps_,
            .fixed = fixed_,
            .scale = of.scale,
            .bias = of.bias,
            .var = of.var,
            .dscale = a.out<C>(1),
            .dbias = a.out<C>(2),
            .factor = factor(a),
            .offset = offset(a),
            .of_x = space_.array(a, 1),
            .rest = space_.array(a, 2)};
  }
  template <class Device, bool kIsMasked>
  void map(Device device, const KernelArgs& a, const NormalizeGrad<T, kIsMasked>& to_dx) const {
    const C* const offset_or_none = kIsMasked ? offset(a) : factor(a);
    map_columns<C, 5>(device, a.stream, plan_.extent.middle, plan_.extent.inner,
                      {a.in<C>(2), factor(a), offset_or_none, space_.array(a, 1), space_.array(a, 2)}, to_dx);
  }

 private:
  SumPlan plan_;
  double eps_;
  bool has_scale_, fixed_, has_offset_;
  ChannelWorkspace<C> space_;
};

/// As the sums read them: written down first, or computed on the way.
template <class C>
Columns<C, 3> normal_columns(Cpu device, const NormalColumns<C>& of, std::int64_t channels, C* factor, C* offset) {
  parallel_for(device, nullptr, channels, StoreNormalColumns<C>{of, factor, offset});
  return {of.mean, factor, offset};
}
#ifdef LETHE_DEVICE_CODE
template <class C>
NormalColumns<C> normal_columns(Cuda, const NormalColumns<C>& of, std::int64_t, C*, C*) {
  return of;
}
#endif

struct BatchNormGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const bool masked = args.op.attrs.flag(kMasked, false);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return masked ? prepare_masked<T, Device>(args) : prepare_plain<T, Device>(args);
    });
  }

  template <class T, class Device>
  static std::unique_ptr<Kernel> prepare_plain(const PrepareArgs& args) {
    using C = Compute<T>;
    const NormGradient<T> gradient(Device{}, args, 3);
    const auto run = [gradient](const KernelArgs& a) {
      const T *x = a.in<T>(0), *dy = a.in<T>(kDy);
      const NormalColumns<C> of = gradient.columns(a, nullptr);
      sum_middle(Device{}, a, gradient.plan(), Columns<C, 1>{of.mean}, GradSums<T, false>{x, dy},
                 gradient.finish(a, of));
      gradient.map(Device{}, a, NormalizeGrad<T, false>{x, dy, a.out<T>(0)});
    };
    return make_kernel(run, gradient.workspace(), 2 * bytes_of(args.in(0)));
  }

  template <class T, class Device>
  static std::unique_ptr<Kernel> prepare_masked(const PrepareArgs& args) {
    using C = Compute<T>;
    const NormGradient<T> gradient(Device{}, args, 4);
    const auto run = [gradient, has_bias = args.has_in(kBias)](const KernelArgs& a) {
      const T *x = a.in<T>(0), *dy = a.in<T>(kDy);
      const NormalColumns<C> of = gradient.columns(a, has_bias ? a.in<C>(kBias) : nullptr);
      const std::int64_t channels = gradient.plan().extent.inner;
      sum_middle(Device{}, a, gradient.plan(),
                 normal_columns(Device{}, of, channels, gradient.factor(a), gradient.offset(a)),
                 GradSums<T, true>{x, dy}, gradient.finish(a, of));
      gradient.map(Device{}, a, NormalizeGrad<T, true>{x, dy, a.out<T>(0)});
    };
    return make_kernel(run, gradient.workspace(), 2 * bytes_of(args.in(0)));
  }
};

/// The masked gradient is written on the way, for others.
struct BatchNormJoinGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return args.has_in(kMore) ? prepare_for<T, true, Device>(args) : prepare_for<T, false, Device>(args);
    });
  }

  template <class T, bool kAdds, class Device>
  static std::unique_ptr<Kernel> prepare_for(const PrepareArgs& args) {
    using C = Compute<T>;
    const NormGradient<T> gradient(Device{}, args, 3);
    const auto run = [gradient](const KernelArgs& a) {
      const T* const x = a.in<T>(0);
      T* const masked = a.out<T>(3);
      const NormalColumns<C> of = gradient.columns(a, nullptr);
      const JoinSums<T, kAdds> sums{x, a.in<T>(kY), a.in<T>(kDy), kAdds ? a.in<T>(kMore) : nullptr, masked};
      sum_middle(Device{}, a, gradient.plan(), Columns<C, 1>{of.mean}, sums, gradient.finish(a, of));
      gradient.map(Device{}, a, NormalizeGrad<T, false>{x, masked, a.out<T>(0)});
    };
    return make_kernel(run, gradient.workspace(), 2 * bytes_of(args.in(0)));
  }
};

/// With relu's mask on the way, if `made` is the batch norm whose gradient this is, and adds nothing to it.
std::vector<Op> masked_gradient(const Program&, const Op& made, const Op& gradient) {
  const bool by_batch = made.type == "batch_norm", by_given = made.type == "batch_norm_inference";
  if ((!by_batch && !by_given) || gradient.attrs.flag(kMasked, false)) return {};
  const auto in = [&](std::size_t slot) { return slot < made.in.size() ? made.in[slot] : kNone; };
  if (in(op_def(made.type).adds) != kNone) return {};
  const VarId mean = by_batch ? made.out[1] : in(3), var = by_batch ? made.out[2] : in(4);
  const std::vector<VarId> read = {in(0), in(1), mean, var};
  if (!std::equal(read.begin(), read.end(), gradient.in.begin()) ||
      made.attrs.number("eps") != gradient.attrs.number("eps"))
    return {};
  Op masked = gradient;
  masked.in.resize(kBias + 1, kNone);
  masked.in[kBias] = in(2);
  masked.attrs.set(kMasked, true);
  return {masked};
}

/// With `mask`, which makes dy, on the way.
std::vector<Op> join_gradient(const Program&, const Op& mask, const Op& gradient) {
  if (gradient.attrs.flag(kMasked, false)) return {};
  Op join = gradient;
  join.type = "batch_norm_join_grad";
  join.in.resize(kDy);
  join.in.insert(join.in.end(), {mask.in[1], mask.in[0]});
  if (mask.in.size() > 2) join.in.push_back(mask.in[2]);
  join.out.push_back(mask.out[0]);
  return {join};
}

/// Of dx, dscale and dbias.
std::vector<Type> infer_gradients(const InferArgs& args) {
  const Var& x = args.in(0);
  check(!x.shape.empty(), args.op.type, ": x is a scalar");
  const Type channels{{x.shape.back()}, wide_of(x.dtype)};
  for (const int slot : {1, 2, 3}) check_input(args, slot, channels);
  check_input(args, kDy, {x.shape, x.dtype});
  return {{x.shape, x.dtype}, channels, channels};
}

std::vector<Type> infer_batch_norm_grad(const InferArgs& args) {
  std::vector<Type> types = infer_gradients(args);
  check_input(args, kBias, types[1]);
  return types;
}

std::vector<Type> infer_join_grad(const InferArgs& args) {
  std::vector<Type> types = infer_gradients(args);
  for (const int slot : {kY, kMore}) check_input(args, slot, types[0]);
  types.push_back(types[0]);
  return types;
}

// Attribute fixed: mean and variance are constants, as in batch_norm_inference. Attribute masked: dy counts where y
// would be more than 0.
const Register batch_norm_grad{{
    .type = "batch_norm_grad",
    .inputs = {"x", "scale?", "mean", "var", "dy", "bias?"},
    .outputs = {"dx", "dscale", "dbias"},
    .infer = infer_batch_norm_grad,
    .inplace = {{.in = 0, .out = 0}, {.in = kDy, .out = 0}},
    .fusions = {{.fusion = Fusion::Mask, .input = kDy, .fused = masked_gradient},
                {.fusion = Fusion::Join, .input = kDy, .fused = join_gradient}},
    .kernels = each_device<BatchNormGrad>(),
}};

// masked = dy + more where y is more than 0, or NaN, else 0; and the gradients of a norm whose output had that.
const Register batch_norm_join_grad{{
    .type = "batch_norm_join_grad",
    .inputs = {"x", "scale?", "mean", "var", "dy", "y", "more?"},
    .outputs = {"dx", "dscale", "dbias", "masked"},
    .infer = infer_join_grad,
    .inplace = {{.in = 0, .out = 0}, {.in = kDy, .out = 3}, {.in = kY, .out = 3}, {.in = kMore, .out = 3}},
    .kernels = each_device<BatchNormJoinGrad>(),
}};

}  // namespace
}  // namespace lethe
