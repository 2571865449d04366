// gelu(x) = x P(X <= x) for X normal, and its gradient, of single values: exact, x / 2 (1 + erf(x / sqrt(2)))
// (Hendrycks and Gimpel, 2016), and x / 2 (1 + tanh(u)), u = sqrt(2 / pi) (x + 0.044715 x^3), as GPT-2 has it.
#pragma once
#include "kernels/exp.h"
#include "kernels/normal.h"

namespace lethe {

inline constexpr double kTwoSqrtTwoOverPi = 1.5957691216057307;  // 2 sqrt(2 / pi)
inline constexpr double kCubic = 0.044715;

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

}  // namespace lethe
