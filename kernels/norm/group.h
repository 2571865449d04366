// Group norm (Wu and He, "Group normalization", 2018) over [samples, positions, channels], both devices: sums by sample
// and channel, then what they make for each group, then one pass of a linear function for each sample and channel. Sums
// are taken of plain x and dy * x in f64, where the products are exact, so that no mean need be known before.
#pragma once
#include <array>
#include <cmath>

#include "kernels/for_each_pair.h"
#include "kernels/low_floats.h"
#include "kernels/packs.h"
#include "kernels/reduce/plan.h"

namespace lethe {

struct GroupExtent {
  std::int64_t samples = 1, positions = 1, channels = 1, groups = 1;
  HD std::int64_t size() const { return channels / groups; }  // channels of a group
  HD double count() const { return static_cast<double>(positions * size()); }
  SumExtent sums() const { return {samples, positions, channels}; }
  /// Every element (first), each with its sample and channel (second).
  Box box() const {
    return make_box({samples, positions, channels}, {positions * channels, channels, 1}, {channels, 0, 1});
  }
};

/// Sums of x and x * other, other being x itself for the moments.
template <class T>
struct SumsWithProducts {
  using Terms = std::array<double, 2>;
  using Nothing = std::array<double, 0>;
  const T *x, *other;
  HD static Terms terms_of(Compute<T> x, Compute<T> other) {
    const auto wide = static_cast<double>(x);
    return {wide, wide * static_cast<double>(other)};
  }
  HD Terms operator()(std::int64_t i, const Nothing&) const { return terms_of(x[i], other[i]); }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return lethe::can_pack({x, other}); }
  template <int V>
  HD void pack(std::int64_t, std::int64_t i, const Nothing*, Terms* terms) const {
    const Pack<T, V> of_x = load_pack<V>(x + i), of_other = load_pack<V>(other + i);
    for (int v = 0; v < V; ++v) terms[v] = terms_of(of_x.at[v], of_other.at[v]);
  }
};
struct StoreSums {
  std::int64_t channels;
  double* sums;  // [samples, channels, 2]
  HD void operator()(std::int64_t sample, std::int64_t c, const std::array<double, 2>& of) const {
    sums[(sample * channels + c) * 2] = of[0];
    sums[(sample * channels + c) * 2 + 1] = of[1];
  }
};

/// Mean and inverse deviation of group i of all samples, and what `GroupNormalize` reads of its channels. No weight: 1;
/// no bias: 0.
template <class C>
struct GroupStatistics {
  GroupExtent extent;
  double eps;
  const double* sums;
  const C *weight, *bias;
  C *mean, *inverse, *centre, *factor, *offset;
  HD void operator()(std::int64_t i) const {
    const std::int64_t first = i * extent.size(), last = first + extent.size();  // of all samples' channels
    double sum = 0, squares = 0;
    for (std::int64_t at = first; at < last; ++at) sum += sums[2 * at], squares += sums[2 * at + 1];
    const double of_mean = sum / extent.count(), var = squares / extent.count() - of_mean * of_mean;
    mean[i] = static_cast<C>(of_mean);
    inverse[i] = static_cast<C>(1 / std::sqrt((var < 0 ? 0 : var) + eps));
    for (std::int64_t at = first, c = first % extent.channels; at < last; ++at, ++c) {
      centre[at] = mean[i];
      factor[at] = weight ? inverse[i] * weight[c] : inverse[i];
      offset[at] = bias ? bias[c] : C(0);
    }
  }
};

template <class T>
struct GroupNormalize {
  using C = Compute<T>;
  const T* x;
  const C *centre, *factor, *offset;
  T* y;
  HD void operator()(std::int64_t i, std::int64_t at) const { y[i] = (x[i] - centre[at]) * factor[at] + offset[at]; }
};

}  // namespace lethe
