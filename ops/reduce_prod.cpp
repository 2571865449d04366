// The product over the axes named by `axes` (counted in the shape as it is in memory; none: all). The gradient of an
// element is dy times the product of all others: of those that are not 0, if no other one is.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "kernels/for_each_pair.h"
#include "kernels/reduce/fold.h"

namespace lethe {
namespace {

struct OneIfZero {
  template <class T>
  HD T operator()(T x) const {
    return x == 0 ? T(1) : x;
  }
};
struct IsZero {
  template <class T>
  HD T operator()(T x) const {
    return x == 0 ? T(1) : T(0);
  }
};

template <class T>
struct ProductOfOthers {
  const T *x, *dy;
  const double *products, *zeros;  // of the elements that are not 0; how many are
  T* dx;
  HD void operator()(std::int64_t i, std::int64_t j) const {
    const auto here = static_cast<double>(compute(x[i])), of_y = static_cast<double>(compute(dy[j]));
    const double own = here == 0 ? 1 : 0;
    dx[i] = static_cast<T>(zeros[j] == own ? of_y * (products[j] / (here == 0 ? 1 : here)) : 0);
  }
};

struct ReduceProdGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape& shape = args.in(0).shape;
    const Ints axes = reduced_axes(args.op, shape);
    const Box box = reduction_box(shape, axes);
    WorkspaceLayout layout;
    const Fold fold(shape, axes, sizeof(double), layout);
    const std::int64_t outputs = elements(args.in(1).shape);
    const WorkspacePart products = layout.add_array<double>(outputs), zeros = layout.add_array<double>(outputs);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel(
          [=](const KernelArgs& a) {
            const T* const x = a.in<T>(0);
            fold.run<Product, OneIfZero>(Device{}, a, x, products.at<double>(a));
            fold.run<Total, IsZero>(Device{}, a, x, zeros.at<double>(a));
            for_each_pair(Device{}, a.stream, box,
                          ProductOfOthers<T>{x, a.in<T>(1), products.at<double>(a), zeros.at<double>(a), a.out<T>(0)});
          },
          layout.bytes(),
          2 * box.count() * std::int64_t{sizeof(T)} + 2 * fold.bytes_between() + 2 * (products.bytes + zeros.bytes));
    });
  }
};

std::vector<Type> infer_reduce_prod_grad(const InferArgs& args) {
  check_input(args, 1, infer_reduction(args)[0]);
  return same_as_first(args);
}

const Register reduce_prod{{
    .type = "reduce_prod",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_reduction,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "reduce_prod_grad", {g.x(0), g.dy()}, g.attrs());
        },
    .along = Along::Elements,
    .kernels = each_device<ReduceBy<Product>>(),
    .layer = {.name = "reduce_prod",
              .aliases = {"ReduceProd"},
              .keys = reduction_keys(),
              .build = [](LayerCall& c) { return c.emit("reduce_prod", {c.in()}, reduction_attrs(c)); },
              .help = "the product over some axes or all"},
}};

const Register reduce_prod_grad{{
    .type = "reduce_prod_grad",
    .inputs = {"x", "dy"},
    .outputs = {"dx"},
    .infer = infer_reduce_prod_grad,
    .inplace = {{.in = 0, .out = 0}},
    .kernels = each_device<ReduceProdGrad>(),
}};

}  // namespace
}  // namespace lethe
