// y = x tanh(log(1 + e^x)) (Misra, 2019), without overflow. The gradient reads x.
#include "kernels/exp.h"
#include "kernels/unary.h"

namespace lethe {
namespace {

/// tanh(log(1 + e^x)) = ((1 + e^x)^2 - 1) / ((1 + e^x)^2 + 1); from 20 up it is 1 in all dtypes.
template <class T>
HD T tanh_of_softplus(T x) {
  const T power = exp_of(x < T(20) ? x : T(20)), n = power * (power + T(2));
  return x < T(20) ? n / (n + T(2)) : x == x ? T(1) : x;
}

struct Mish : SlopeOfX {
  static constexpr const char *kType = "mish", *kAlias = "Mish", *kHelp = "x * tanh(log(1 + e^x))";
  template <class T>
  HD T value(T x) const {
    return x * tanh_of_softplus(x);
  }
  template <class T>
  HD T slope(T x) const {
    const T share = tanh_of_softplus(x);
    return share + x * (T(1) - share * share) * logistic(x);
  }
};

const RegisterUnary<Mish> mish_op;

}  // namespace
}  // namespace lethe
