// y = 1 / x. The gradient reads y.
#include "kernels/unary.h"

namespace lethe {
namespace {

struct Reciprocal : SlopeOfY {
  static constexpr const char *kType = "reciprocal", *kAlias = "Reciprocal", *kHelp = "1 / x";
  template <class T>
  HD T value(T x) const {
    return T(1) / x;
  }
  template <class T>
  HD T slope(T y) const {
    return -y * y;
  }
};

const RegisterUnary<Reciprocal> reciprocal_op;

}  // namespace
}  // namespace lethe
