// y = x + bias for x < -lambd, x - bias for x > lambd, else 0; NaN stays NaN. With bias = lambd it is PyTorch's
// Softshrink, with bias = 0 its Hardshrink.
#include "kernels/unary.h"

namespace lethe {
namespace {

struct Shrink : SlopeOfX {
  static constexpr const char* kType = "shrink";
  double bias, lambd;
  explicit Shrink(const Attrs& attrs) : bias(attrs.number("bias")), lambd(attrs.number("lambd")) {}
  template <class T>
  HD T value(T x) const {
    const T limit = static_cast<T>(lambd), by = static_cast<T>(bias);
    return x < -limit ? x + by : x <= limit ? T(0) : x - by;
  }
  template <class T>
  HD T slope(T x) const {
    const T limit = static_cast<T>(lambd);
    return x >= -limit && x <= limit ? T(0) : T(1);
  }
};

VarId build_shrink(LayerCall& c) {
  return c.emit("shrink", {c.in()}, {{"bias", c.settings().number("bias")}, {"lambd", c.settings().number("lambd")}});
}

const Register shrink{unary_op<Shrink>(
    {.name = "shrink",
     .aliases = {"Shrink"},
     .keys =
         {{.name = "bias", .type = KeyType::Number, .absent = 0.0, .help = "how much nearer to 0 the others come"},
          {.name = "lambd", .type = KeyType::Number, .absent = 0.5, .min = 0, .help = "up to here values become 0"}},
     .build = build_shrink,
     .help = "0 from -lambd to lambd, all else nearer to 0 by bias"})};
const Register shrink_grad{unary_grad_op<Shrink>()};

}  // namespace
}  // namespace lethe
