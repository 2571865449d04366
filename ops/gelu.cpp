// y = x * P(X <= x) for X normal: x / 2 * (1 + erf(x / sqrt(2))), exact (Hendrycks and Gimpel, 2016).
#include <cmath>

#include "framework/autodiff.h"
#include "framework/op_def.h"
#include "kernels/map.h"

namespace lethe {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;      // 1 / sqrt(2)
constexpr double kInvSqrtTwoPi = 0.39894228040143267794;  // 1 / sqrt(2 pi)

template <class T>
HD T normal_cdf(T x) {
  return T(0.5) * (T(1) + std::erf(x * T(kSqrtHalf)));
}

struct Gelu {
  template <class T>
  HD T operator()(T x) const {
    return x * normal_cdf(x);
  }
};

struct GeluGrad {
  template <class T>
  HD T operator()(T x, T dy) const {
    const T density = T(kInvSqrtTwoPi) * std::exp(T(-0.5) * x * x);
    return dy * (normal_cdf(x) + x * density);
  }
};

const Register gelu{{
    .type = "gelu",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "gelu_grad", {g.x(0), g.dy()});
        },
    .inplace = {{.in = 0, .out = 0}},
    .pitched = true,
    .kernels = map<Gelu, 1, Floats, Rows::Pitched>(),
    .layer = {.name = "gelu",
              .aliases = {"Gelu"},
              .build = [](LayerCall& c) { return c.emit("gelu", {c.in()}); },
              .help = "x times the normal distribution function at x (exact, with erf)"},
}};

const Register gelu_grad{{
    .type = "gelu_grad",
    .inputs = {"x", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .pitched = true,
    .kernels = map<GeluGrad, 2, Floats, Rows::Pitched>(),
}};

}  // namespace
}  // namespace lethe
