// Functions of steps: sign, floor, ceil, round. Their gradient is zero everywhere, as PyTorch's, and reads nothing.
#include <cmath>

#include "kernels/unary.h"

namespace lethe {
namespace {

struct Sign {
  static constexpr const char *kType = "sign", *kAlias = "Sign", *kHelp = "1, 0 or -1, as x is above, at or below 0";
  template <class T>
  HD T value(T x) const {
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
  }
};

struct Floor {
  static constexpr const char *kType = "floor", *kAlias = "Floor", *kHelp = "the next whole number down";
  template <class T>
  HD T value(T x) const {
    return std::floor(x);
  }
};

struct Ceil {
  static constexpr const char *kType = "ceil", *kAlias = "Ceil", *kHelp = "the next whole number up";
  template <class T>
  HD T value(T x) const {
    return std::ceil(x);
  }
};

struct Round {
  static constexpr const char *kType = "round", *kAlias = "Round",
                              *kHelp = "the nearest whole number; the even one of two that are as near";
  template <class T>
  HD T value(T x) const {
    return std::rint(x);
  }
};

void zero_grad_rule(GradBuilder& g) {
  const Var& x = g.var(g.x(0));
  g.set(0, kFillConstant, {}, {{"shape", x.shape}, {"dtype", std::string(name_of(x.dtype))}, {"value", 0.0}});
}

template <class F>
OpDef step_function() {
  return unary_op<F>(unary_layer<F>(), zero_grad_rule);
}

const Register sign_op{step_function<Sign>()};
const Register floor_op{step_function<Floor>()};
const Register ceil_op{step_function<Ceil>()};
const Register round_op{step_function<Round>()};

}  // namespace
}  // namespace lethe
