// y = (x - mean) / sqrt(var + eps) * scale + bias, with mean and biased variance of each channel (the last axis) over
// all other axes. The running statistics are updated by an op of their own, so that nothing recomputed does it twice.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/norm/batch.h"
#include "kernels/norm/normalize.h"
#include "kernels/reduce/sums.h"

namespace lethe {
namespace {

// The slot of what is added, and of what it is normalised by, if it is (fuse_shortcut_norms).
constexpr int kAdded = 3, kAddedScale = 4, kAddedBias = 5, kAddedMean = 6, kAddedVar = 7;

/// What `Normalize` reads of a channel, and of what is added if that is normalised as well.
template <class T>
struct ChannelValues {
  Statistics<T> statistics;
  StoreNormalColumns<Compute<T>> added;  // without factor: it is not
  HD void operator()(std::int64_t outer, std::int64_t c, const std::array<double, 2>& sums) const {
    statistics(outer, c, sums);
    if (added.factor) added(c);
  }
};

struct BatchNorm {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumExtent extent = channels_of(args.in(0).shape);
    const SumPlan plan = plan_sum(Device{}, args.device, extent, args.in(0).dtype);
    const double eps = args.op.attrs.number("eps");
    const bool has_scale = args.has_in(1), has_bias = args.has_in(2), relu = has_relu(args.op.attrs);
    const bool normal_added = args.has_in(kAddedMean), has_added_scale = args.has_in(kAddedScale);
    const bool has_added_bias = args.has_in(kAddedBias);
    const double added_eps = normal_added ? args.op.attrs.number("added_eps") : 0;
    const Added added = normal_added ? Added::NormalMore : args.has_in(kAdded) ? Added::More : Added::Nothing;
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      const ChannelWorkspace<C> space(plan, 2, normal_added ? 4 : 2);
      return make_kernel(
          [=](const KernelArgs& a) {
            const T* x = a.in<T>(0);
            C *mean = a.out<C>(1), *factor = space.array(a, 0), *offset = space.array(a, 1);
            const Statistics<T> statistics{.count = static_cast<double>(extent.middle),
                                           .eps = eps,
                                           .shift = x,
                                           .scale = has_scale ? a.in<C>(1) : nullptr,
                                           .bias = has_bias ? a.in<C>(2) : nullptr,
                                           .mean = mean,
                                           .var = a.out<C>(2),
                                           .factor = factor,
                                           .offset = offset};
            StoreNormalColumns<C> of_added{};
            std::array<const C*, 6> columns = {mean, factor, offset};
            if (normal_added) {
              of_added = {.of = {.eps = added_eps,
                                 .scale = has_added_scale ? a.in<C>(kAddedScale) : nullptr,
                                 .bias = has_added_bias ? a.in<C>(kAddedBias) : nullptr,
                                 .mean = a.in<C>(kAddedMean),
                                 .var = a.in<C>(kAddedVar)},
                          .factor = space.array(a, 2),
                          .offset = space.array(a, 3)};
              columns = {mean, factor, offset, of_added.of.mean, of_added.factor, of_added.offset};
            }
            sum_middle(Device{}, a, plan, Columns<T, 1>{x}, Moments<T>{x}, ChannelValues<T>{statistics, of_added});
            normalize_rows<T>(Device{}, a.stream, extent, added, relu, columns, x,
                              added == Added::Nothing ? nullptr : a.in<T>(kAdded), a.out<T>(0));
          },
          space.bytes(), bytes_of(args.in(0)));
    });
  }
};

std::vector<Type> infer_batch_norm(const InferArgs& args) {
  const Var& x = args.in(0);
  check(x.shape.size() >= 2, "batch_norm: input ", text_of(x.shape), " has no axis besides the channels");
  const double eps = args.op.attrs.number("eps");
  check(eps >= 0, "batch_norm: eps is ", eps, ", expected at least 0");
  const Type channels{{x.shape.back()}, wide_of(x.dtype)};
  for (const int slot : {1, 2}) check_input(args, slot, channels);
  check_input(args, kAdded, {x.shape, x.dtype});
  for (const int slot : {kAddedScale, kAddedBias, kAddedMean, kAddedVar}) check_input(args, slot, channels);
  check(args.has_in(kAddedMean) == args.has_in(kAddedVar) && (args.has_in(kAdded) || !args.has_in(kAddedMean)),
        "batch_norm: what is added is normalised by a mean and a variance");
  return {{x.shape, x.dtype}, channels, channels};
}

void batch_norm_gradient(GradBuilder& g) {
  check(g.dy(0) != kNone && g.dy(1) == kNone && g.dy(2) == kNone,
        "batch_norm: no gradient through mean and variance as outputs");
  const auto like = [&](int slot) { return g.x(slot) == kNone ? g.x(0) : g.x(slot); };
  const std::vector<VarId> grads =
      g.call_all("batch_norm_grad", {g.x(0), g.x(1), g.y(1), g.y(2), g.dy()}, g.attrs(), {g.x(0), like(1), like(2)});
  for (int slot = 0; slot < 3; ++slot) g.set(slot, grads[slot]);
}

/// A sum of two norms: the first gives its statistics, the second makes both. None if the first adds, too.
std::vector<Op> with_shortcut_norm(const Program&, const Op& made, const Op& adding) {
  if (made.type != "batch_norm" || made.in.size() > kAdded || made.attrs.has(kActivation)) return {};
  Op statistics = made, sum = adding;
  statistics.type = "channel_statistics";
  statistics.in.resize(1);
  statistics.out = {made.out[1], made.out[2]};
  statistics.attrs = {};
  const auto in = [&](std::size_t slot) { return slot < made.in.size() ? made.in[slot] : kNone; };
  sum.in[kAdded] = made.in[0];
  sum.in.insert(sum.in.end(), {in(1), in(2), made.out[1], made.out[2]});
  sum.attrs.set("added_eps", made.attrs.number("eps"));
  return {statistics, sum};
}

/// Whether training normalises by the running statistics and leaves them: if they are frozen, or if all parameters are.
bool is_still(const LayerCall& c, bool affine) {
  const bool mean = c.is_frozen("running_mean");
  check(mean == c.is_frozen("running_var"), "of running_mean and running_var only one is frozen; both are, or neither");
  return mean || (affine && c.is_frozen("weight") && c.is_frozen("bias"));
}

/// Training normalises by the batch and counts it into the running statistics, which evaluation reads.
VarId build_batch_norm(LayerCall& c) {
  const Shape channels{c.channels()};
  const DType dtype = wide_of(c.var(c.in()).dtype);
  VarId scale = kNone, bias = kNone;
  const bool affine = c.settings().flag("affine");
  if (affine) {
    scale = c.wide_param("weight", channels, {.kind = Init::Constant, .value = 1}, false);
    bias = c.wide_param("bias", channels, {.kind = Init::Constant, .value = 0}, false);
  }
  const VarId running_mean = c.state("running_mean", channels, dtype, 0);
  const VarId running_var = c.state("running_var", channels, dtype, 1);
  Attrs attrs{{"eps", c.settings().number("eps")}};
  if (!c.training() || is_still(c, affine))
    return c.emit("batch_norm_inference", {c.in(), scale, bias, running_mean, running_var}, attrs);
  const std::int64_t parts = c.joint_parts(), count = parts * (elements(c.shape()) / channels[0]);
  VarId y, mean, var;
  if (parts == 1) {
    const std::vector<VarId> out = c.emit_all("batch_norm", {c.in(), scale, bias}, attrs);
    y = out[0], mean = out[1], var = out[2];
  } else {
    attrs.set("count", count);
    const VarId moments = c.emit(kSumOverParts, {c.emit("batch_norm_moments", {c.in()}, {{"count", count}})});
    const std::vector<VarId> of_batch =
        c.emit_all("batch_norm_statistics", {moments}, {{"dtype", std::string(name_of(dtype))}});
    mean = of_batch[0], var = of_batch[1];
    y = c.emit("batch_norm_over_parts", {c.in(), scale, bias, mean, var}, attrs);
  }
  c.update("batch_norm_update", {running_mean, running_var, mean, var},
           {{"momentum", c.settings().number("momentum")}, {"count", count}});
  return y;
}

const Register batch_norm{{
    .type = "batch_norm",
    .inputs = {"x", "scale?", "bias?", "added?", "added_scale?", "added_bias?", "added_mean?", "added_var?"},
    .outputs = {"y", "mean", "var"},
    .infer = infer_batch_norm,
    .grad = batch_norm_gradient,
    .inplace = {{.in = 0, .out = 0}, {.in = kAdded, .out = 0}},
    .again =
        [](const Op& op) {
          check(op.in.size() <= kAdded, "batch_norm: computed again with a sum on the way");
          Op normalize = op;
          normalize.type = "batch_norm_inference";
          normalize.in.resize(3, kNone);
          normalize.in.insert(normalize.in.end(), {op.out[1], op.out[2]});
          normalize.out.resize(1);
          return normalize;
        },
    .fusions = {{.fusion = Fusion::ShortcutNorm, .input = kAdded, .fused = with_shortcut_norm}},
    .activates = Activates::Everywhere,
    .adds = kAdded,
    .kernels = each_device<BatchNorm>(),
    .layer =
        {.name = "bn",
         .aliases = {"BatchNormalization"},
         .keys = {{.name = "momentum",
                   .type = KeyType::Number,
                   .absent = 0.1,
                   .min = 0,
                   .max = 1,
                   .help = "share of the batch in the running statistics"},
                  {.name = "eps", .type = KeyType::Number, .absent = 1e-5, .min = 0, .help = "added to the variance"},
                  {.name = "affine", .type = KeyType::Bool, .absent = true, .help = "learn a scale and a bias"}},
         .build = build_batch_norm,
         .help = "normalise each channel over the batch and its positions"},
}};

}  // namespace
}  // namespace lethe
