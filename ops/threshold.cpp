// y = x where x > threshold, rounded to the dtype, else `value`; NaN stays NaN. With a value that is not above the
// threshold y tells as well as x which it was: the gradient reads y then, and x may be overwritten.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"
#include "kernels/number.h"

namespace lethe {
namespace {

struct Threshold {
  double threshold, value;
  Threshold(const Attrs& attrs, DType dtype)
      : threshold(nearest(dtype, attrs.number("threshold"))), value(attrs.number("value")) {}
  template <class T>
  HD T operator()(T x) const {
    return x <= static_cast<T>(threshold) ? static_cast<T>(value) : x;
  }
};

struct ThresholdGrad {
  double threshold;
  ThresholdGrad(const Attrs& attrs, DType dtype) : threshold(nearest(dtype, attrs.number("threshold"))) {}
  template <class T>
  HD T operator()(T seen, T dy) const {
    return seen <= static_cast<T>(threshold) ? T(0) : dy;
  }
};

void threshold_grad_rule(GradBuilder& g) {
  const double threshold = g.attrs().number("threshold");
  const VarId seen = g.attrs().number("value") <= threshold ? g.y() : g.x(0);
  g.set(0, "threshold_grad", {seen, g.dy()}, {{"threshold", threshold}});
}

VarId build_threshold(LayerCall& c) {
  return c.emit("threshold", {c.in()},
                {{"threshold", c.settings().number("threshold")}, {"value", c.settings().number("value")}});
}

const Register threshold{{
    .type = "threshold",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad = threshold_grad_rule,
    .inplace = {{.in = 0, .out = 0}},
    .kernels = map<Threshold, 1>(),
    .layer = {.name = "threshold",
              .aliases = {"ThresholdedRelu"},
              .keys = {{.name = "threshold", .type = KeyType::Number, .help = "values above it pass"},
                       {.name = "value", .type = KeyType::Number, .absent = 0.0, .help = "instead of all others"}},
              .build = build_threshold,
              .help = "x above the threshold, else value"},
}};

const Register threshold_grad{{
    .type = "threshold_grad",
    .inputs = {"seen", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map<ThresholdGrad, 2>(),
}};

}  // namespace
}  // namespace lethe
