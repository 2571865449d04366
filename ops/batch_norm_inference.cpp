// Batch norm with statistics that are given, whether they depend on x or not: y = (x - running_mean) / sqrt(running_var
// + eps) * scale + bias. Without a mean and a bias this is the gradient of x, made of that of y, where x has no part in
// the statistics.
#include "framework/autodiff/autodiff.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/norm/batch.h"
#include "kernels/norm/normalize.h"

namespace lethe {
namespace {

constexpr int kAddedToInference = 5;  // the slot

struct BatchNormInference {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumExtent extent = channels_of(args.in(0).shape);
    const double eps = args.op.attrs.number("eps");
    const bool has_scale = args.has_in(1), has_bias = args.has_in(2), relu = has_relu(args.op.attrs);
    const bool adds = args.has_in(kAddedToInference), has_mean = args.has_in(3);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      const ChannelWorkspace<C> space(SumPlan{extent}, 0, has_mean ? 2 : 3);
      return make_kernel(
          [=](const KernelArgs& a) {
            C *factor = space.array(a, 0), *offset = space.array(a, 1);
            C* const zero = has_mean ? nullptr : space.array(a, 2);
            const NormalColumns<C> columns{.eps = eps,
                                           .scale = has_scale ? a.in<C>(1) : nullptr,
                                           .bias = has_bias ? a.in<C>(2) : nullptr,
                                           .mean = has_mean ? a.in<C>(3) : nullptr,
                                           .var = a.in<C>(4)};
            parallel_for(Device{}, a.stream, extent.inner, StoreNormalColumns<C>{columns, factor, offset, zero});
            normalize_rows<T>(Device{}, a.stream, extent, adds ? Added::More : Added::Nothing, relu,
                              {has_mean ? columns.mean : zero, factor, offset}, a.in<T>(0),
                              adds ? a.in<T>(kAddedToInference) : nullptr, a.out<T>(0));
          },
          space.bytes());
    });
  }
};

std::vector<Type> infer_inference(const InferArgs& args) {
  const Var& x = args.in(0);
  check(!x.shape.empty(), "batch_norm_inference: the input is a scalar");
  for (const int slot : {1, 2, 3, 4}) check_input(args, slot, {{x.shape.back()}, wide_of(x.dtype)});
  check_input(args, kAddedToInference, {x.shape, x.dtype});
  return {{x.shape, x.dtype}};
}

/// Where scale and bias are frozen, too, or not there, y is linear in x, which the gradient does not read.
void inference_gradient(GradBuilder& g) {
  Attrs attrs = g.attrs();
  if (!g.wants(1) && !g.wants(2))
    return g.set(0, "batch_norm_inference", {g.dy(), g.x(1), kNone, kNone, g.x(4)}, attrs);
  attrs.set("fixed", true);
  const auto like = [&](int slot) { return g.x(slot) == kNone ? g.x(0) : g.x(slot); };
  const std::vector<VarId> grads =
      g.call_all("batch_norm_grad", {g.x(0), g.x(1), g.x(3), g.x(4), g.dy()}, attrs, {g.x(0), like(1), like(2)});
  for (int slot = 0; slot < 3; ++slot) g.set(slot, grads[slot]);
}

const Register batch_norm_inference{{
    .type = "batch_norm_inference",
    .inputs = {"x", "scale?", "bias?", "running_mean?", "running_var", "added?"},
    .outputs = {"y"},
    .infer = infer_inference,
    .grad = inference_gradient,
    .inplace = {{.in = 0, .out = 0}, {.in = kAddedToInference, .out = 0}},
    .activates = Activates::Everywhere,
    .along = Along::Rows,
    .adds = kAddedToInference,
    .kernels = each_device<BatchNormInference>(),
}};

/// The statistics are those of all parts of the batch (batch_norm_parts.cpp), whose sums the gradient needs, too.
void gradient_over_parts(GradBuilder& g) {
  const Attrs eps{{"eps", g.attrs().number("eps")}};
  const auto like = [&](int slot) { return g.x(slot) == kNone ? g.x(0) : g.x(slot); };
  const std::vector<VarId> of_part =
      g.call_all("batch_norm_grad_sums", {g.x(0), g.x(3), g.x(4), g.dy()}, eps, {g.x(3), like(1), like(2)});
  g.set(1, of_part[1]);
  g.set(2, of_part[2]);
  if (!g.wants(0)) return;
  const VarId sums = g.call(kSumOverParts, {of_part[0]}, {}, g.x(4));
  g.set(0, "batch_norm_grad_of_sums", {g.x(0), g.x(1), g.x(3), g.x(4), g.dy(), sums}, g.attrs());
}

const Register batch_norm_over_parts{{
    .type = "batch_norm_over_parts",
    .inputs = {"x", "scale?", "bias?", "mean", "var", "added?"},
    .outputs = {"y"},
    .infer = infer_inference,
    .grad = gradient_over_parts,
    .inplace = {{.in = 0, .out = 0}, {.in = kAddedToInference, .out = 0}},
    .activates = Activates::Everywhere,
    .adds = kAddedToInference,
    .kernels = each_device<BatchNormInference>(),
}};

}  // namespace
}  // namespace lethe
