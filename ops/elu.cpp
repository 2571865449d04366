// y = scale x for x > 0, else scale alpha (exp(input_scale x) - 1), as PyTorch's op elu has it: ELU (Clevert et al.,
// 2016), SELU (Klambauer et al., 2017) and CELU (Barron, 2017) are forms of it. Where y has the sign of x the gradient
// reads y, and x may be overwritten.
#include <cmath>

#include "framework/builder/settings.h"
#include "kernels/unary.h"

namespace lethe {
namespace {

struct Elu {
  static constexpr const char* kType = "elu";
  double alpha, scale, input_scale;
  bool by_y;
  explicit Elu(const Attrs& attrs)
      : alpha(attrs.number("alpha")),
        scale(attrs.number("scale", 1)),
        input_scale(attrs.number("input_scale", 1)),
        by_y(takes_y(attrs)) {}
  static bool takes_y(const Attrs& attrs) {
    return attrs.number("scale", 1) > 0 && attrs.number("alpha") * attrs.number("input_scale", 1) > 0;
  }
  template <class T>
  HD T value(T x) const {
    return x <= T(0) ? static_cast<T>(scale * alpha) * std::expm1(static_cast<T>(input_scale) * x)
                     : static_cast<T>(scale) * x;
  }
  template <class T>
  HD T slope(T seen) const {
    if (!(seen <= T(0))) return static_cast<T>(scale);
    const T rate = static_cast<T>(input_scale), most = static_cast<T>(scale * alpha);
    return by_y ? rate * (seen + most) : rate * most * std::exp(rate * seen);
  }
};

VarId build_elu(LayerCall& c) { return c.emit("elu", {c.in()}, {{"alpha", c.settings().number("alpha")}}); }

VarId build_celu(LayerCall& c) {
  const double alpha = c.settings().number("alpha");
  if (alpha == 0) throw SettingError("alpha", "'alpha' of 'celu' is 0, by which x is divided");
  return c.emit("elu", {c.in()}, {{"alpha", alpha}, {"input_scale", 1 / alpha}});
}

VarId build_selu(LayerCall& c) {
  const Attrs attrs{{"alpha", c.settings().number("alpha")}, {"scale", c.settings().number("gamma")}};
  return c.emit("elu", {c.in()}, attrs);
}

const Register elu{unary_op<Elu>({.name = "elu",
                                  .aliases = {"Elu", "ELU"},
                                  .keys = {{.name = "alpha",
                                            .type = KeyType::Number,
                                            .absent = 1.0,
                                            .help = "y falls to -alpha where x is far below 0"}},
                                  .build = build_elu,
                                  .help = "x, or alpha * (e^x - 1) below 0"})};
const Register elu_grad{unary_grad_op<Elu>()};

const RegisterLayer celu{{.name = "celu",
                          .aliases = {"Celu", "CELU"},
                          .keys = {{.name = "alpha",
                                    .type = KeyType::Number,
                                    .absent = 1.0,
                                    .help = "y falls to -alpha where x is far below 0"}},
                          .build = build_celu,
                          .help = "x, or alpha * (e^(x / alpha) - 1) below 0"}};
const RegisterLayer selu{
    {.name = "selu",
     .aliases = {"Selu", "SELU"},
     .keys = {{.name = "alpha", .type = KeyType::Number, .absent = 1.6732632423543772, .help = "as of elu"},
              {.name = "gamma", .type = KeyType::Number, .absent = 1.0507009873554805, .help = "factor of all"}},
     .build = build_selu,
     .help = "gamma * elu(x), which keeps a mean of 0 and a variance of 1"}};

}  // namespace
}  // namespace lethe
