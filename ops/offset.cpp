// y = x + `by`, for every dtype of numbers: whole ones stay exact, as counters and indices must.
#include "framework/autodiff/autodiff.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"
#include "kernels/number.h"

namespace lethe {
namespace {

struct Offset {
  double by;
  explicit Offset(const Attrs& attrs) : by(attrs.number("by")) {}
  template <class T>
  HD T operator()(T x) const {
    return static_cast<T>(x + static_cast<T>(by));
  }
};

std::vector<Type> infer_offset(const InferArgs& args) {
  const double by = args.op.attrs.number("by");
  const DType dtype = args.in(0).dtype;
  check(holds(dtype, by), "offset: by is ", by, ", which no ", name_of(dtype), " is");
  return same_as_first(args);
}

const Register offset{{
    .type = "offset",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_offset,
    .grad = [](GradBuilder& g) { g.set(0, g.dy()); },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = map<Offset, 1, Numbers>(),
}};

}  // namespace
}  // namespace lethe
