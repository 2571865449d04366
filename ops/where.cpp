// y = a where cond is not 0, else b. a and b are as y, or scalars, or absent, which is 0; cond may broadcast. Gradients
// read cond alone.
#include <algorithm>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "kernels/broadcast.h"

namespace lethe {
namespace {

/// An operand: each of its elements, or a number, 0 if it is absent.
template <class T, bool kEach>
struct Choice {
  const T* x;
  HD T at(std::int64_t i) const {
    if constexpr (kEach)
      return x[i];
    else
      return x ? *x : T(0);
  }
};

template <class T, bool kEachA, bool kEachB>
struct WhereElement {
  const std::uint8_t* cond;
  Choice<T, kEachA> a;
  Choice<T, kEachB> b;
  T* y;
  HD void operator()(std::int64_t i, std::int64_t j) const {
    const T if_true = a.at(i), if_false = b.at(i);  // both, so that loops need no branch
    y[i] = cond[j] != 0 ? if_true : if_false;
  }
};

struct Where {
  template <class Device, class T, bool kEachA, bool kEachB>
  static std::unique_ptr<Kernel> of(const PrepareArgs& args) {
    const Box box = broadcast_box(args.out(0).shape, args.in(0).shape);
    const bool has_a = args.has_in(1), has_b = args.has_in(2);
    return make_kernel([box, has_a, has_b](const KernelArgs& a) {
      const Choice<T, kEachA> if_true{has_a ? a.in<T>(1) : nullptr};
      const Choice<T, kEachB> if_false{has_b ? a.in<T>(2) : nullptr};
      const WhereElement<T, kEachA, kEachB> element{a.in<std::uint8_t>(0), if_true, if_false, a.out<T>(0)};
      for_each_pair(Device{}, a.stream, box, element);
    });
  }
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const auto is_each = [&](int slot) { return args.has_in(slot) && !args.in(slot).shape.empty(); };
    return for_width(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      if (is_each(1)) return is_each(2) ? of<Device, T, true, true>(args) : of<Device, T, true, false>(args);
      return is_each(2) ? of<Device, T, false, true>(args) : of<Device, T, false, false>(args);
    });
  }
};

std::vector<Type> infer_where(const InferArgs& args) {
  const Var& cond = args.in(0);
  check(cond.dtype == DType::u8, "where: cond is ", text_of(cond), ", expected u8");
  check(args.has_in(1) || args.has_in(2), "where: neither a nor b is there");
  Type type{cond.shape, args.in(args.has_in(1) ? 1 : 2).dtype};
  for (const int slot : {1, 2})
    if (args.has_in(slot) && !args.in(slot).shape.empty()) type.shape = args.in(slot).shape;
  for (const int slot : {1, 2})
    if (args.has_in(slot)) check_input(args, slot, {args.in(slot).shape.empty() ? Shape{} : type.shape, type.dtype});
  check(common_shape(type.shape, cond.shape) == type.shape, "where: cond ", text_of(cond.shape),
        " does not broadcast to ", text_of(type.shape));
  return {type};
}

void where_grad_rule(GradBuilder& g) {
  for (const int slot : {1, 2}) {
    if (!g.wants(slot)) continue;
    const std::vector<VarId> in = {g.x(0), slot == 1 ? g.dy() : kNone, slot == 2 ? g.dy() : kNone};
    if (g.var(g.x(slot)).shape == g.var(g.y()).shape)
      g.set(slot, "where", in);
    else
      g.set(slot, "sum_to", {g.call("where", in, {}, g.x(slot))}, {{"shape", Shape{}}});
  }
}

VarId build_where(LayerCall& c) {
  std::vector<VarId> in = {c.in(0), c.in(1), c.in(2)};
  const bool has_image = std::ranges::any_of(in, [&](VarId x) { return c.is_image(x); });
  const Layout layout = has_image ? Layout::Image : Layout::Plain;
  const std::size_t rank = std::max({c.shape(0).size(), c.shape(1).size(), c.shape(2).size()});
  for (VarId& x : in) x = aligned(c, x, rank, layout);
  std::optional<Shape> shape = c.var(in[0]).shape;
  for (const int slot : {1, 2})
    if (shape) shape = common_shape(*shape, c.var(in[slot]).shape);
  check(shape.has_value(), "where: shapes ", text_of(c.shape(0)), ", ", text_of(c.shape(1)), " and ",
        text_of(c.shape(2)), " do not broadcast");
  for (const int slot : {1, 2})
    if (!c.var(in[slot]).shape.empty()) in[slot] = in_shape(c, in[slot], *shape, layout, "expanded");
  return c.emit("where", in);
}

const Register where{{
    .type = "where",
    .inputs = {"cond", "a?", "b?"},
    .outputs = {"y"},
    .infer = infer_where,
    .grad = where_grad_rule,
    .inplace = {{.in = 1, .out = 0}, {.in = 2, .out = 0}},
    .along = Along::Elements,
    .kernels = each_device<Where>(),
    .layer = {.name = "where",
              .aliases = {"Where"},
              .min_inputs = 3,
              .max_inputs = 3,
              .build = build_where,
              .help = "the second input where the first, truth values, is true, else the third; all broadcast"},
}};

}  // namespace
}  // namespace lethe
