// The gradient of reduce_max and reduce_min: the elements of x that are y share dy, NaN being equal to NaN.
#include "kernels/for_each_pair.h"
#include "kernels/reduce/fold.h"

namespace lethe {
namespace {

/// dx: 1 where the element is y, else 0.
template <class T>
struct MarkExtremes {
  const T *x, *y;
  T* dx;
  HD void operator()(std::int64_t i, std::int64_t j) const {
    const Compute<T> a = x[i], b = y[j];
    dx[i] = static_cast<T>(a == b || (a != a && b != b) ? Compute<T>(1) : Compute<T>(0));
  }
};

template <class T>
struct ShareAmongMarked {
  const double* counts;
  const T* dy;
  T* dx;
  HD void operator()(std::int64_t i, std::int64_t j) const {
    const Compute<T> share = dy[j] / static_cast<Compute<T>>(counts[j]);
    dx[i] = static_cast<T>(compute(dx[i]) != 0 ? share : Compute<T>(0));
  }
};

struct ReduceExtremeGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape& shape = args.in(0).shape;
    const Ints axes = reduced_axes(args.op, shape);
    const Box box = reduction_box(shape, axes);
    WorkspaceLayout layout;
    const Fold fold(shape, axes, sizeof(double), layout);
    const WorkspacePart counts = layout.add_array<double>(elements(args.in(1).shape));
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel(
          [=](const KernelArgs& a) {
            for_each_pair(Device{}, a.stream, box, MarkExtremes<T>{a.in<T>(0), a.in<T>(1), a.out<T>(0)});
            fold.run<Total>(Device{}, a, static_cast<const T*>(a.out<T>(0)), counts.at<double>(a));
            for_each_pair(Device{}, a.stream, box, ShareAmongMarked<T>{counts.at<double>(a), a.in<T>(2), a.out<T>(0)});
          },
          layout.bytes(), 3 * box.count() * std::int64_t{sizeof(T)} + fold.bytes_between() + 2 * counts.bytes);
    });
  }
};

std::vector<Type> infer_reduce_extreme_grad(const InferArgs& args) {
  const Type y = infer_reduction(args)[0];
  for (const int slot : {1, 2}) check_input(args, slot, y);
  return same_as_first(args);
}

const Register reduce_extreme_grad{{
    .type = "reduce_extreme_grad",
    .inputs = {"x", "y", "dy"},
    .outputs = {"dx"},
    .infer = infer_reduce_extreme_grad,
    .inplace = {{.in = 0, .out = 0}},
    .kernels = each_device<ReduceExtremeGrad>(),
}};

}  // namespace
}  // namespace lethe
