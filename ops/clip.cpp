// y = x, but at least `min` and at most `max`, rounded to the dtype; NaN stays NaN. The gradient reads y, so x may be
// overwritten; it is 0 at the bounds themselves, as that of PyTorch's hardtanh.
#include <limits>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"
#include "kernels/number.h"

namespace lethe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Bounds {
  double min, max;
  explicit Bounds(const Attrs& attrs) : min(attrs.number("min", -kInfinity)), max(attrs.number("max", kInfinity)) {}
  /// As they stand in y, by which the gradient tells where x was.
  Bounds(const Attrs& attrs, DType dtype) : Bounds(attrs) {
    min = nearest(dtype, min);
    max = nearest(dtype, max);
  }
};

struct Clip : Bounds {
  using Bounds::Bounds;
  template <class T>
  HD T operator()(T x) const {
    return x < static_cast<T>(min) ? static_cast<T>(min) : x > static_cast<T>(max) ? static_cast<T>(max) : x;
  }
};

struct ClipGrad : Bounds {
  using Bounds::Bounds;
  template <class T>
  HD T operator()(T y, T dy) const {
    return y <= static_cast<T>(min) || y >= static_cast<T>(max) ? T(0) : dy;
  }
};

std::vector<Type> infer_clip(const InferArgs& args) {
  const Bounds bounds(args.op.attrs);
  check(bounds.min <= bounds.max, "clip: min is ", bounds.min, ", max is ", bounds.max);
  return same_as_first(args);
}

VarId build_clip(LayerCall& c) {
  Attrs bounds;
  for (const char* key : {"min", "max"})
    if (c.settings().has(key)) bounds.set(key, c.settings().number(key));
  return c.emit("clip", {c.in()}, bounds);
}

const Register clip{{
    .type = "clip",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_clip,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "clip_grad", {g.y(), g.dy()}, g.attrs());
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = map<Clip, 1>(),
    .layer =
        {.name = "clip",
         .aliases = {"Clip"},
         .keys = {{.name = "min", .type = KeyType::Number, .help = "least value; default none", .optional = true},
                  {.name = "max", .type = KeyType::Number, .help = "largest value; default none", .optional = true}},
         .build = build_clip,
         .help = "x within bounds"},
}};

const Register clip_grad{{
    .type = "clip_grad",
    .inputs = {"y", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map<ClipGrad, 2>(),
}};

}  // namespace
}  // namespace lethe
