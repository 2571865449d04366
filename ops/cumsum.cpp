// y[i] = the sum of x up to i along an axis, i counted or, with `exclusive`, not; with `reverse` from the end on. Sums
// are taken in f64. The gradient is the same from the other end.
#include <algorithm>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/each_device.h"
#include "kernels/reduce/plan.h"

namespace lethe {
namespace {

template <class T>
struct RunningSum {
  static constexpr std::int64_t kColumns = 256;  // that the CPU sums together
  SumExtent extent;
  bool reverse, exclusive;
  const T* x;
  T* y;

  /// Of a column of one outer index, on its own.
  HD void operator()(std::int64_t i) const {
    double sum = 0;
    const std::int64_t outer = i / extent.inner;
    for (std::int64_t k = 0; k < extent.middle; ++k) step(sum, row(outer, k) + i - outer * extent.inner);
  }
  /// Of columns [column, column + n), in step.
  void columns(std::int64_t outer, std::int64_t column, std::int64_t n) const {
    double sums[kColumns] = {};
    for (std::int64_t k = 0; k < extent.middle; ++k)
      for (std::int64_t j = 0, first = row(outer, k) + column; j < n; ++j) step(sums[j], first + j);
  }

 private:
  HD std::int64_t row(std::int64_t outer, std::int64_t k) const {
    return (outer * extent.middle + (reverse ? extent.middle - 1 - k : k)) * extent.inner;
  }
  HD void step(double& sum, std::int64_t at) const {
    const double with = sum + static_cast<double>(compute(x[at]));  // y may be in the memory of x
    y[at] = static_cast<T>(exclusive ? sum : with);
    sum = with;
  }
};

template <class T>
void running_sums(Cpu, void*, const RunningSum<T>& sum) {
  const SumExtent& extent = sum.extent;
  const std::int64_t at_once = std::min(extent.inner, sum.kColumns), blocks = (extent.inner + at_once - 1) / at_once;
  parallel_ranges(extent.outer * blocks, kElementGrain / (extent.middle * at_once) + 1,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t task = begin; task < end; ++task) {
                      const std::int64_t column = task % blocks * at_once;
                      sum.columns(task / blocks, column, std::min(at_once, extent.inner - column));
                    }
                  });
}
#ifdef LETHE_DEVICE_CODE
template <class T>
void running_sums(Cuda device, void* stream, const RunningSum<T>& sum) {
  parallel_for(device, stream, sum.extent.outer * sum.extent.inner, sum);
}
#endif

struct CumSum {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape& x = args.in(0).shape;
    const auto axis = x.begin() + args.op.attrs.integer("axis");
    const SumExtent extent{elements({x.begin(), axis}), *axis, elements({axis + 1, x.end()})};
    const bool reverse = args.op.attrs.flag("reverse", false), exclusive = args.op.attrs.flag("exclusive", false);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        running_sums(Device{}, a.stream, RunningSum<T>{extent, reverse, exclusive, a.in<T>(0), a.out<T>(0)});
      });
    });
  }
};

std::vector<Type> infer_cumsum(const InferArgs& args) {
  const std::int64_t axis = args.op.attrs.integer("axis");
  const std::size_t axes = args.in(0).shape.size();
  check(axis >= 0 && axis < static_cast<std::int64_t>(axes), "cumsum: axis is ", axis, ", input has ", axes, " axes");
  return same_as_first(args);
}

VarId build_cumsum(LayerCall& c) {
  Attrs attrs{{"axis", c.axis("axis")}};
  for (const char* key : {"exclusive", "reverse"})
    if (c.settings().flag(key)) attrs.set(key, true);
  return c.emit("cumsum", {c.in()}, attrs);
}

const Register cumsum{{
    .type = "cumsum",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_cumsum,
    .grad =
        [](GradBuilder& g) {
          Attrs attrs = g.attrs();
          attrs.set("reverse", !attrs.flag("reverse", false));
          g.set(0, "cumsum", {g.dy()}, attrs);
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = each_device<CumSum>(),
    .layer =
        {.name = "cumsum",
         .aliases = {"CumSum"},
         .keys = {{.name = "axis", .type = KeyType::Axis, .help = "axis along which it sums"},
                  {.name = "exclusive", .type = KeyType::Bool, .absent = false, .help = "a sum is of those before"},
                  {.name = "reverse", .type = KeyType::Bool, .absent = false, .help = "from the end on"}},
         .build = build_cumsum,
         .help = "running sums along one axis"},
}};

}  // namespace
}  // namespace lethe
