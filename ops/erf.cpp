// y = 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
#include <cmath>

#include "kernels/exp.h"
#include "kernels/unary.h"

namespace lethe {
namespace {

struct Erf : SlopeOfX {
  static constexpr const char *kType = "erf", *kAlias = "Erf", *kHelp = "the error function";
  template <class T>
  HD T value(T x) const {
    return std::erf(x);
  }
  template <class T>
  HD T slope(T x) const {
    return T(1.12837916709551257390) * exp_of(-x * x);  // 2 / sqrt(pi)
  }
};

const RegisterUnary<Erf> erf_op;

}  // namespace
}  // namespace lethe
