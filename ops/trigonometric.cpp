// Trigonometric and hyperbolic functions and their inverses. Slopes of asin, acos and atan are of x: where they level
// off y no longer tells them; so is that of cosh, whose y does not tell the sign of x.
#include <cmath>

#include "kernels/unary.h"

namespace lethe {
namespace {

struct Sin : SlopeOfX {
  static constexpr const char *kType = "sin", *kAlias = "Sin", *kHelp = "sine, of radians";
  template <class T>
  HD T value(T x) const {
    return std::sin(x);
  }
  template <class T>
  HD T slope(T x) const {
    return std::cos(x);
  }
};

struct Cos : SlopeOfX {
  static constexpr const char *kType = "cos", *kAlias = "Cos", *kHelp = "cosine, of radians";
  template <class T>
  HD T value(T x) const {
    return std::cos(x);
  }
  template <class T>
  HD T slope(T x) const {
    return -std::sin(x);
  }
};

struct Tan : SlopeOfY {
  static constexpr const char *kType = "tan", *kAlias = "Tan", *kHelp = "tangent, of radians";
  template <class T>
  HD T value(T x) const {
    return std::tan(x);
  }
  template <class T>
  HD T slope(T y) const {
    return T(1) + y * y;
  }
};

struct Asin : SlopeOfX {
  static constexpr const char *kType = "asin", *kAlias = "Asin", *kHelp = "inverse of sin, in radians";
  template <class T>
  HD T value(T x) const {
    return std::asin(x);
  }
  template <class T>
  HD T slope(T x) const {
    return T(1) / std::sqrt((T(1) - x) * (T(1) + x));
  }
};

struct Acos : SlopeOfX {
  static constexpr const char *kType = "acos", *kAlias = "Acos", *kHelp = "inverse of cos, in radians";
  template <class T>
  HD T value(T x) const {
    return std::acos(x);
  }
  template <class T>
  HD T slope(T x) const {
    return T(-1) / std::sqrt((T(1) - x) * (T(1) + x));
  }
};

struct Atan : SlopeOfX {
  static constexpr const char *kType = "atan", *kAlias = "Atan", *kHelp = "inverse of tan, in radians";
  template <class T>
  HD T value(T x) const {
    return std::atan(x);
  }
  template <class T>
  HD T slope(T x) const {
    return T(1) / (T(1) + x * x);
  }
};

struct Sinh : SlopeOfY {
  static constexpr const char *kType = "sinh", *kAlias = "Sinh", *kHelp = "hyperbolic sine";
  template <class T>
  HD T value(T x) const {
    return std::sinh(x);
  }
  template <class T>
  HD T slope(T y) const {
    return std::sqrt(T(1) + y * y);
  }
};

struct Cosh : SlopeOfX {
  static constexpr const char *kType = "cosh", *kAlias = "Cosh", *kHelp = "hyperbolic cosine";
  template <class T>
  HD T value(T x) const {
    return std::cosh(x);
  }
  template <class T>
  HD T slope(T x) const {
    return std::sinh(x);
  }
};

struct Asinh : SlopeOfY {
  static constexpr const char *kType = "asinh", *kAlias = "Asinh", *kHelp = "inverse of sinh";
  template <class T>
  HD T value(T x) const {
    return std::asinh(x);
  }
  template <class T>
  HD T slope(T y) const {
    return T(1) / std::cosh(y);
  }
};

struct Acosh : SlopeOfY {
  static constexpr const char *kType = "acosh", *kAlias = "Acosh", *kHelp = "inverse of cosh, from 0 up";
  template <class T>
  HD T value(T x) const {
    return std::acosh(x);
  }
  template <class T>
  HD T slope(T y) const {
    return T(1) / std::sinh(y);
  }
};

struct Atanh : SlopeOfY {
  static constexpr const char *kType = "atanh", *kAlias = "Atanh", *kHelp = "inverse of tanh";
  template <class T>
  HD T value(T x) const {
    return std::atanh(x);
  }
  template <class T>
  HD T slope(T y) const {
    return std::cosh(y) * std::cosh(y);
  }
};

const RegisterUnary<Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh> trigonometric_functions;

}  // namespace
}  // namespace lethe
