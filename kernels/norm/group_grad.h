// The gradient of group norm, both devices. With h = (x - mean) * inverse and g = dy * weight, as of layer norm:
//   dx = inverse * (g - mean of g - h * mean of g * h), both means over the group.
#pragma once
#include "kernels/norm/group.h"

namespace lethe {

/// Of group i of all samples: what `GroupNormalizeGrad` reads of its channels. `sums`: of dy and dy * x; the second
/// becomes that of dy * h.
template <class C>
struct GroupFactors {
  GroupExtent extent;
  double* sums;
  const C *weight, *mean, *inverse;
  C *centre, *of_dy, *of_x, *rest;
  HD void operator()(std::int64_t i) const {
    const std::int64_t first = i * extent.size(), last = first + extent.size(), channel = first % extent.channels;
    const auto of_mean = static_cast<double>(mean[i]), by = static_cast<double>(inverse[i]);
    double of_g = 0, of_gh = 0;
    for (std::int64_t at = first, c = channel; at < last; ++at, ++c) {
      sums[2 * at + 1] = (sums[2 * at + 1] - of_mean * sums[2 * at]) * by;
      const double w = weight ? static_cast<double>(weight[c]) : 1;
      of_g += w * sums[2 * at];
      of_gh += w * sums[2 * at + 1];
    }
    for (std::int64_t at = first, c = channel; at < last; ++at, ++c) {
      centre[at] = mean[i];
      of_dy[at] = weight ? inverse[i] * weight[c] : inverse[i];
      of_x[at] = static_cast<C>(-by * by * of_gh / extent.count());
      rest[at] = static_cast<C>(-by * of_g / extent.count());
    }
  }
};

/// Of channel c: what its samples give, in their order.
template <class C>
struct GroupWeightGrads {
  GroupExtent extent;
  const double* sums;  // of dy and dy * h
  C *dweight, *dbias;
  HD void operator()(std::int64_t c) const {
    double of_weight = 0, of_bias = 0;
    for (std::int64_t sample = 0; sample < extent.samples; ++sample) {
      of_bias += sums[(sample * extent.channels + c) * 2];
      of_weight += sums[(sample * extent.channels + c) * 2 + 1];
    }
    dweight[c] = static_cast<C>(of_weight);
    dbias[c] = static_cast<C>(of_bias);
  }
};

template <class T>
struct GroupNormalizeGrad {
  using C = Compute<T>;
  const T *x, *dy;
  const C *centre, *of_dy, *of_x, *rest;
  T* dx;
  HD void operator()(std::int64_t i, std::int64_t at) const {
    dx[i] = of_dy[at] * dy[i] + (of_x[at] * (x[i] - centre[at]) + rest[at]);
  }
};

}  // namespace lethe
