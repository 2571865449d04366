// y = x * P(X <= x) for X normal: x / 2 * (1 + erf(x / sqrt(2))), exact (Hendrycks and Gimpel, 2016), or with
// `approximate` "tanh" x / 2 * (1 + tanh(u)), u = sqrt(2 / pi) * (x + 0.044715 x^3), as GPT-2 has it.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/exp.h"
#include "kernels/map.h"
#include "kernels/normal.h"

namespace lethe {
namespace {

constexpr double kTwoSqrtTwoOverPi = 1.5957691216057307;  // 2 sqrt(2 / pi)
constexpr double kCubic = 0.044715;

struct Gelu {
  template <class T>
  HD T operator()(T x) const {
    return x * normal_at(x).below;
  }
};

struct GeluGrad {
  template <class T>
  HD T operator()(T x, T dy) const {
    const Normal<T> normal = normal_at(x);
    return dy * (normal.below + x * normal.density);
  }
};

/// (1 + tanh(u)) / 2 = logistic(2 u).
template <class T>
HD T tanh_cdf(T x) {
  return logistic(T(kTwoSqrtTwoOverPi) * (x + T(kCubic) * x * x * x));
}

struct TanhGelu {
  template <class T>
  HD T operator()(T x) const {
    return x * tanh_cdf(x);
  }
};

struct TanhGeluGrad {
  template <class T>
  HD T operator()(T x, T dy) const {
    const T cdf = tanh_cdf(x), slope = T(kTwoSqrtTwoOverPi) * (T(1) + T(3 * kCubic) * x * x);
    return dy * (cdf + x * cdf * (T(1) - cdf) * slope);
  }
};

bool is_approximate(const Attrs& attrs) {
  if (!attrs.has("approximate")) return false;
  const std::string& how = attrs.text("approximate");
  check(how == "none" || how == "tanh", "gelu: approximate is ", quote(how), ", expected none or tanh");
  return how == "tanh";
}

std::vector<Type> infer_gelu(const InferArgs& args) {
  is_approximate(args.op.attrs);
  return same_as_first(args);
}

template <class Exact, class Approximate, int N>
struct GeluKernels {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return is_approximate(args.op.attrs) ? Map<Approximate, N, Floats, Rows::Pitched>::template prepare<Device>(args)
                                         : Map<Exact, N, Floats, Rows::Pitched>::template prepare<Device>(args);
  }
};

VarId build_gelu(LayerCall& c) {
  const std::string& how = c.settings().text("approximate");
  return c.emit("gelu", {c.in()}, how == "none" ? Attrs{} : Attrs{{"approximate", how}});
}

const Register gelu{{
    .type = "gelu",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_gelu,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "gelu_grad", {g.x(0), g.dy()}, g.attrs());
        },
    .inplace = {{.in = 0, .out = 0}},
    .pitched = true,
    .along = Along::Elements,
    .kernels = each_device<GeluKernels<Gelu, TanhGelu, 1>>(),
    .layer = {.name = "gelu",
              .aliases = {"Gelu"},
              .keys = {{.name = "approximate",
                        .type = KeyType::Choice,
                        .absent = "none",
                        .help = "none: exact, with erf; tanh: as GPT-2",
                        .choices = {"none", "tanh"}}},
              .build = build_gelu,
              .help = "x times the normal distribution function at x"},
}};

const Register gelu_grad{{
    .type = "gelu_grad",
    .inputs = {"x", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .pitched = true,
    .kernels = each_device<GeluKernels<GeluGrad, TanhGeluGrad, 2>>(),
}};

}  // namespace
}  // namespace lethe
