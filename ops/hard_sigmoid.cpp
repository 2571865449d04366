// y = alpha x + beta within 0 and 1, and x times that with alpha = 1/6 and beta = 1/2 (Howard et al., 2019). The
// gradient of the first reads y, and is 0 at the bounds, as PyTorch's.
#include "kernels/unary.h"

namespace lethe {
namespace {

template <class T>
HD T within_0_and_1(T x) {
  return x < T(0) ? T(0) : x > T(1) ? T(1) : x;
}

struct HardSigmoid : SlopeOfY {
  static constexpr const char* kType = "hard_sigmoid";
  double alpha, beta;
  explicit HardSigmoid(const Attrs& attrs) : alpha(attrs.number("alpha")), beta(attrs.number("beta")) {}
  template <class T>
  HD T value(T x) const {
    return within_0_and_1(static_cast<T>(alpha) * x + static_cast<T>(beta));
  }
  template <class T>
  HD T slope(T y) const {
    return y <= T(0) || y >= T(1) ? T(0) : static_cast<T>(alpha);
  }
};

struct HardSwish : SlopeOfX {
  static constexpr const char *kType = "hard_swish", *kAlias = "HardSwish",
                              *kHelp = "x times x / 6 + 1/2 within 0 and 1";
  template <class T>
  HD T value(T x) const {
    return x * within_0_and_1(x / T(6) + T(0.5));
  }
  template <class T>
  HD T slope(T x) const {
    return x <= T(-3) ? T(0) : x >= T(3) ? T(1) : x / T(3) + T(0.5);
  }
};

VarId build_hard_sigmoid(LayerCall& c) {
  const Attrs attrs{{"alpha", c.settings().number("alpha")}, {"beta", c.settings().number("beta")}};
  return c.emit("hard_sigmoid", {c.in()}, attrs);
}

const Register hard_sigmoid{unary_op<HardSigmoid>(
    {.name = "hard_sigmoid",
     .aliases = {"HardSigmoid"},
     .keys =
         {{.name = "alpha", .type = KeyType::Number, .absent = 0.2, .help = "factor; PyTorch's Hardsigmoid has 1/6"},
          {.name = "beta", .type = KeyType::Number, .absent = 0.5, .help = "added to it"}},
     .build = build_hard_sigmoid,
     .help = "alpha * x + beta within 0 and 1"})};
const Register hard_sigmoid_grad{unary_grad_op<HardSigmoid>()};
const RegisterUnary<HardSwish> hard_swish;

}  // namespace
}  // namespace lethe
