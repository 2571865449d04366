// Batch norm over [rows, channels], both devices: sums by column, then one pass of a linear function for each channel.
#pragma once
#include <array>
#include <cmath>

#include "kernels/low_floats.h"
#include "kernels/packs.h"
#include "kernels/reduce/plan.h"
#include "kernels/workspace.h"

namespace lethe {

/// All axes but the last in the middle.
inline SumExtent channels_of(const Shape& shape) {
  return {.middle = elements(shape) / shape.back(), .inner = shape.back()};
}

/// The partial sums of a plan and after them `arrays` arrays of one value a channel.
template <class T>
class ChannelWorkspace {
 public:
  ChannelWorkspace(const SumPlan& plan, int terms, int arrays) : channels_(plan.extent.inner) {
    layout_.add(sum_workspace(plan, terms));
    arrays_ = layout_.add_array<T>(arrays * channels_);
  }
  std::int64_t bytes() const { return layout_.bytes(); }
  T* array(const KernelArgs& args, std::int64_t i) const { return arrays_.at<T>(args) + i * channels_; }

 private:
  std::int64_t channels_;
  WorkspaceLayout layout_;
  WorkspacePart arrays_;
};

/// Sums of x - shift and of its square: with a value of the channel itself as shift nothing cancels.
template <class T>
struct Moments {
  using Terms = std::array<Compute<T>, 2>;
  using Shift = std::array<Compute<T>, 1>;
  const T* x;
  HD static Terms terms_of(Compute<T> x, const Shift& shift) {
    const Compute<T> d = x - shift[0];
    return {d, d * d};
  }
  HD Terms operator()(std::int64_t i, const Shift& shift) const { return terms_of(x[i], shift); }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return lethe::can_pack({x}); }
  template <int V>
  HD void pack(std::int64_t, std::int64_t i, const Shift* shifts, Terms* terms) const {
    const Pack<T, V> from = load_pack<V>(x + i);
    for (int v = 0; v < V; ++v) terms[v] = terms_of(from.at[v], shifts[v]);
  }
};

/// scale / sqrt(var + eps).
HD inline double factor_of(double scale, double var, double eps) { return scale / std::sqrt(var + eps); }

/// From the moments: mean, biased variance, and, unless `factor` is null, what `Normalize` reads, made of these two as
/// they are stored, so that whoever has them can normalize again. No scale: 1; no bias: 0.
template <class T>
struct Statistics {
  double count, eps = 0;
  const T* shift;
  const Compute<T>*scale = nullptr, *bias = nullptr;
  Compute<T>*mean, *var, *factor = nullptr, *offset = nullptr;
  HD void operator()(std::int64_t, std::int64_t c, const std::array<double, 2>& sums) const {
    const double d = sums[0] / count, v = sums[1] / count - d * d;
    const auto biased = static_cast<Compute<T>>(v < 0 ? 0 : v);
    mean[c] = static_cast<Compute<T>>(static_cast<double>(shift[c]) + d);
    var[c] = biased;
    if (!factor) return;
    factor[c] = factor_of(scale ? static_cast<double>(scale[c]) : 1, static_cast<double>(biased), eps);
    offset[c] = bias ? bias[c] : 0;
  }
};

}  // namespace lethe
