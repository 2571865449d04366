// y = (x - mean) * inv_std * weight + bias, for each sample's `groups` groups of neighbouring channels over all its
// positions; channels are the last axis, inv_std = 1 / sqrt(biased variance + eps). Mean and inv_std, one of each a
// sample and group, are kept for the gradient. With as many groups as channels it is instance norm.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/builder/settings.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/norm/group_grad.h"
#include "kernels/norm/row_types.h"
#include "kernels/reduce/sums.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

GroupExtent groups_of(const Op& op, const Shape& x) {
  check(x.size() >= 2, op.type, ": input ", text_of(x), ", expected a batch of samples with channels");
  const std::int64_t groups = op.attrs.integer("groups"), channels = x.back();
  check(groups >= 1 && channels % groups == 0, op.type, ": ", groups, " groups do not divide ", channels, " channels");
  const GroupExtent extent{x[0], elements({x.begin() + 1, x.end() - 1}), channels, groups};
  check(extent.positions * extent.size() > 1, op.type, ": a group of ", text_of(x),
        " is one number, of which nothing is left");
  return extent;
}

/// The sums that one plan takes, and after them those of each sample and channel and `arrays` numbers for each.
template <class C>
class GroupWorkspace {
 public:
  GroupWorkspace(const SumPlan& plan, int arrays) : size_(plan.extent.outer * plan.extent.inner) {
    layout_.add(sum_workspace(plan, 2));
    sums_ = layout_.add_array<double>(2 * size_);
    arrays_ = layout_.add_array<C>(arrays * size_);
  }
  std::int64_t bytes() const { return layout_.bytes(); }
  double* sums(const KernelArgs& a) const { return sums_.at<double>(a); }
  C* array(const KernelArgs& a, std::int64_t i) const { return arrays_.at<C>(a) + i * size_; }

 private:
  std::int64_t size_;
  WorkspaceLayout layout_;
  WorkspacePart sums_, arrays_;
};

struct GroupNorm {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Var& x = args.in(0);
    const GroupExtent extent = groups_of(args.op, x.shape);
    const double eps = args.op.attrs.number("eps");
    const bool has_weight = args.has_in(1), has_bias = args.has_in(2);
    const SumPlan plan = plan_sum(Device{}, args.device, extent.sums(), x.dtype);
    return for_float(x.dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      const GroupWorkspace<C> workspace(plan, 3);
      const auto run = [=, box = extent.box()](const KernelArgs& a) {
        const T* const x = a.in<T>(0);
        double* const sums = workspace.sums(a);
        C *const centre = workspace.array(a, 0), *const factor = workspace.array(a, 1),
                 *const offset = workspace.array(a, 2);
        sum_middle(Device{}, a, plan, Columns<double, 0>{}, SumsWithProducts<T>{x, x},
                   StoreSums{extent.channels, sums});
        parallel_for(
            Device{}, a.stream, extent.samples * extent.groups,
            GroupStatistics<C>{extent, eps, sums, has_weight ? a.in<C>(1) : nullptr, has_bias ? a.in<C>(2) : nullptr,
                               a.out<C>(1), a.out<C>(2), centre, factor, offset},
            kElementGrain / extent.size() + 1);
        for_each_pair(Device{}, a.stream, box, GroupNormalize<T>{x, centre, factor, offset, a.out<T>(0)});
      };
      return make_kernel(run, workspace.bytes(), extent.sums().size() * std::int64_t{sizeof(T)});
    });
  }
};

struct GroupNormGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Var& x = args.in(0);
    const GroupExtent extent = groups_of(args.op, x.shape);
    const bool has_weight = args.has_in(1);
    const SumPlan plan = plan_sum(Device{}, args.device, extent.sums(), x.dtype);
    return for_float(x.dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      const GroupWorkspace<C> workspace(plan, 4);
      const auto run = [=, box = extent.box()](const KernelArgs& a) {
        const T *const x = a.in<T>(0), *const dy = a.in<T>(4);
        double* const sums = workspace.sums(a);
        C *const centre = workspace.array(a, 0), *const of_dy = workspace.array(a, 1),
                 *const of_x = workspace.array(a, 2), *const rest = workspace.array(a, 3);
        sum_middle(Device{}, a, plan, Columns<double, 0>{}, SumsWithProducts<T>{dy, x},
                   StoreSums{extent.channels, sums});
        parallel_for(Device{}, a.stream, extent.samples * extent.groups,
                     GroupFactors<C>{extent, sums, has_weight ? a.in<C>(1) : nullptr, a.in<C>(2), a.in<C>(3), centre,
                                     of_dy, of_x, rest},
                     kElementGrain / extent.size() + 1);
        parallel_for(Device{}, a.stream, extent.channels, GroupWeightGrads<C>{extent, sums, a.out<C>(1), a.out<C>(2)},
                     kElementGrain / extent.samples + 1);
        for_each_pair(Device{}, a.stream, box, GroupNormalizeGrad<T>{x, dy, centre, of_dy, of_x, rest, a.out<T>(0)});
      };
      return make_kernel(run, workspace.bytes(), 2 * extent.sums().size() * std::int64_t{sizeof(T)});
    });
  }
};

Type one_a_group(const Var& x, const GroupExtent& extent) {
  return {{extent.samples, extent.groups}, wide_of(x.dtype)};
}

std::vector<Type> infer_group_norm(const InferArgs& args) {
  const Var& x = args.in(0);
  const Type statistics = one_a_group(x, groups_of(args.op, x.shape));
  const double eps = args.op.attrs.number("eps");
  check(eps >= 0, "group_norm: eps is ", eps, ", expected at least 0");
  for (const int slot : {1, 2}) check_input(args, slot, weight_of_rows(x));
  return {{x.shape, x.dtype}, statistics, statistics};
}

std::vector<Type> infer_group_norm_grad(const InferArgs& args) {
  const Var& x = args.in(0);
  const Type statistics = one_a_group(x, groups_of(args.op, x.shape));
  check_input(args, 1, weight_of_rows(x));
  for (const int slot : {2, 3}) check_input(args, slot, statistics);
  check_input(args, 4, {x.shape, x.dtype});
  return {{x.shape, x.dtype}, weight_of_rows(x), weight_of_rows(x)};
}

void group_norm_gradient(GradBuilder& g) {
  check(g.dy(0) != kNone && g.dy(1) == kNone && g.dy(2) == kNone,
        "group_norm: no gradient through mean and inv_std as outputs");
  const auto like = [&](int slot) { return g.x(slot) == kNone ? g.x(0) : g.x(slot); };
  const std::vector<VarId> grads = g.call_all("group_norm_grad", {g.x(0), g.x(1), g.y(1), g.y(2), g.dy()},
                                              {{"groups", g.attrs().integer("groups")}}, {g.x(0), like(1), like(2)});
  for (int slot = 0; slot < 3; ++slot) g.set(slot, grads[slot]);
}

VarId emit_group_norm(LayerCall& c, std::int64_t groups) {
  VarId weight = kNone, bias = kNone;
  if (c.settings().flag("affine")) {
    const Shape channels{c.channels()};
    weight = c.wide_param("weight", channels, {.kind = Init::Constant, .value = 1}, false);
    bias = c.wide_param("bias", channels, {.kind = Init::Constant, .value = 0}, false);
  }
  return c.emit("group_norm", {c.in(), weight, bias}, {{"groups", groups}, {"eps", c.settings().number("eps")}});
}

std::vector<Key> group_norm_keys() {
  return {
      {.name = "eps", .type = KeyType::Number, .absent = 1e-5, .min = 0, .help = "added to the variance"},
      {.name = "affine", .type = KeyType::Bool, .absent = true, .help = "learn a weight and a bias of each channel"}};
}

std::vector<Key> with_groups(std::vector<Key> keys) {
  keys.insert(keys.begin(), {.name = "groups", .type = KeyType::Int, .min = 1, .help = "a divisor of the channels"});
  return keys;
}

const Register group_norm{{
    .type = "group_norm",
    .inputs = {"x", "weight?", "bias?"},
    .outputs = {"y", "mean", "inv_std"},
    .infer = infer_group_norm,
    .grad = group_norm_gradient,
    .inplace = {{.in = 0, .out = 0}},
    .kernels = each_device<GroupNorm>(),
    .layer = {.name = "group_norm",
              .aliases = {"GroupNormalization"},
              .keys = with_groups(group_norm_keys()),
              .build = [](LayerCall& c) { return emit_group_norm(c, c.settings().integer("groups")); },
              .help = "normalise each sample's groups of channels over its positions"},
}};

const RegisterLayer instance_norm{{
    .name = "instance_norm",
    .aliases = {"InstanceNormalization"},
    .keys = group_norm_keys(),
    .build = [](LayerCall& c) { return emit_group_norm(c, c.channels()); },
    .help = "normalise each sample's channels over its positions",
}};

const Register group_norm_grad{{
    .type = "group_norm_grad",
    .inputs = {"x", "weight?", "mean", "inv_std", "dy"},
    .outputs = {"dx", "dweight", "dbias"},
    .infer = infer_group_norm_grad,
    .inplace = {{.in = 0, .out = 0}, {.in = 4, .out = 0}},
    .kernels = each_device<GroupNormGrad>(),
}};

}  // namespace
}  // namespace lethe
