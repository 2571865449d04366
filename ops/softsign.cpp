// y = x / (1 + |x|). The gradient reads x: near 1 and -1 y does not tell it.
#include <cmath>

#include "kernels/unary.h"

namespace lethe {
namespace {

struct Softsign : SlopeOfX {
  static constexpr const char *kType = "softsign", *kAlias = "Softsign", *kHelp = "x / (1 + |x|)";
  template <class T>
  HD T value(T x) const {
    return x / (T(1) + std::fabs(x));
  }
  template <class T>
  HD T slope(T x) const {
    const T share = T(1) / (T(1) + std::fabs(x));
    return share * share;
  }
};

const RegisterUnary<Softsign> softsign_op;

}  // namespace
}  // namespace lethe
