// Batch norm over all parts of a batch, both devices: from a part's sums to what all parts add up, and back.
#pragma once
#include <array>
#include <cmath>

#include "kernels/norm/batch.h"

namespace lethe {

/// From the moments around `shift`: the mean, and after the means of all channels the mean square, times `share`.
template <class T>
struct StoreMoments {
  double count, share;
  std::int64_t channels;
  const T* shift;
  double* moments;
  HD void operator()(std::int64_t, std::int64_t c, const std::array<double, 2>& sums) const {
    const auto around = static_cast<double>(shift[c]);
    const double d = sums[0] / count, mean = around + d;
    moments[c] = share * mean;
    moments[channels + c] = share * (sums[1] / count - d * d + mean * mean);
  }
};

/// Mean and biased variance.
template <class T>
struct StatisticsOfMoments {
  std::int64_t channels;
  const double* moments;
  T *mean, *var;
  HD void operator()(std::int64_t c) const {
    const double m = moments[c], v = moments[channels + c] - m * m;
    mean[c] = static_cast<T>(m);
    var[c] = static_cast<T>(v < 0 ? 0 : v);
  }
};

/// The sums of dy, after them those of dy * (x - mean), and what these give for a part's own scale and bias.
template <class T>
struct StoreGradSums {
  double eps;
  std::int64_t channels;
  const T* var;
  double* sums;
  T *dscale, *dbias;
  HD void operator()(std::int64_t, std::int64_t c, const std::array<double, 2>& of) const {
    sums[c] = of[0];
    sums[channels + c] = of[1];
    dscale[c] = static_cast<T>(of[1] / std::sqrt(static_cast<double>(var[c]) + eps));
    dbias[c] = static_cast<T>(of[0]);
  }
};

/// From the sums of all parts: what `NormalizeGrad` of batch_grad.h reads besides the mean (see GradFactors there).
template <class T>
struct FactorsOfSums {
  double count, eps;
  std::int64_t channels;
  const T *scale, *var;
  const double* sums;
  T *factor, *of_x, *rest;
  HD void operator()(std::int64_t c) const {
    const double inverse = 1 / std::sqrt(static_cast<double>(var[c]) + eps);
    const double by = factor_of(scale ? static_cast<double>(scale[c]) : 1, static_cast<double>(var[c]), eps);
    factor[c] = static_cast<T>(by);
    of_x[c] = static_cast<T>(-by * inverse * inverse * sums[channels + c] / count);
    rest[c] = static_cast<T>(-by * sums[c] / count);
  }
};

}  // namespace lethe
