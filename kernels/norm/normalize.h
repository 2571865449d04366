// What batch norm does once it knows the statistics: a linear function for each channel, and on the way what the ops
// after it would do.
#pragma once
#include <algorithm>
#include <array>

#include "kernels/activation.h"
#include "kernels/low_floats.h"
#include "kernels/norm/batch.h"
#include "kernels/norm/map.h"
#include "kernels/packs.h"

namespace lethe {

/// What `Normalize` reads of a channel, computed from its statistics: mean, factor and offset. No scale: 1; no bias or
/// mean: 0.
template <class T>
struct NormalColumns {
  double eps;
  const T *scale, *bias, *mean, *var;
};
template <class T>
HD std::array<T, 3> values_at(const NormalColumns<T>& of, std::int64_t c) {
  const double factor =
      factor_of(of.scale ? static_cast<double>(of.scale[c]) : 1, static_cast<double>(of.var[c]), of.eps);
  return {of.mean ? of.mean[c] : T(0), static_cast<T>(factor), of.bias ? of.bias[c] : T(0)};
}

/// The same, written down.
template <class T>
struct StoreNormalColumns {
  NormalColumns<T> of;
  T *factor, *offset, *mean = nullptr;  // the mean where it is needed
  HD void operator()(std::int64_t c) const {
    const std::array<T, 3> values = values_at(of, c);
    if (mean) mean[c] = values[0];
    factor[c] = values[1];
    offset[c] = values[2];
  }
};

/// What `Normalize` adds: `more` as it is, or normalised as well.
enum class Added : std::uint8_t { Nothing, More, NormalMore };

/// y = (x - mean) * factor + offset, plus what is added, activated; each of these steps rounded as if an op of its own
/// had done it, so that the result is a value of T. Columns: mean, factor and offset, and with NormalMore those of
/// `more` after them.
template <class T, class Activation, Added kAdded>
struct Normalize {
  static constexpr bool kAdds = kAdded != Added::Nothing;
  static constexpr std::size_t kColumns = kAdded == Added::NormalMore ? 6 : 3;
  using Values = std::array<Compute<T>, kColumns>;
  const T *x, *more;
  T* y;
  HD static Compute<T> unrounded(Compute<T> x, Compute<T> mean, Compute<T> factor, Compute<T> offset) {
    return (x - mean) * factor + offset;
  }
  HD static Compute<T> rounded(Compute<T> value) { return compute(static_cast<T>(value)); }
  HD static Compute<T> value(Compute<T> x, Compute<T> more, const Values& v) {
    const Compute<T> normal = rounded(unrounded(x, v[0], v[1], v[2]));
    if constexpr (kAdded == Added::NormalMore) more = rounded(unrounded(more, v[3], v[4], v[5]));
    if constexpr (kAdds) return Activation{}(rounded(normal + more));
    return Activation{}(normal);
  }
  HD void operator()(std::int64_t i, const Values& v) const {
    y[i] = exactly<T>(value(x[i], kAdds ? compute(more[i]) : Compute<T>(0), v));
  }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return kAdds ? lethe::can_pack({x, more, y}) : lethe::can_pack({x, y}); }
  template <int V>
  HD void pack(std::int64_t i, const Values* values) const {
    const Pack<T, V> from = load_pack<V>(x + i), added = load_pack<V>((kAdds ? more : x) + i);
    Pack<T, V> to;
    for (int k = 0; k < V; ++k) to.at[k] = exactly<T>(value(from.at[k], added.at[k], values[k]));
    store_pack(y + i, to);
  }
};

/// Of all rows of `extent`; `columns`: as many as `added` asks for.
template <class T, class Device>
void normalize_rows(Device device, void* stream, const SumExtent& extent, Added added, bool relu,
                    const std::array<const Compute<T>*, 6>& columns, const T* x, const T* more, T* y) {
  for_activation(relu, [&](auto activation) {
    const auto run = [&](auto f) {
      Columns<Compute<T>, decltype(f)::kColumns> read;
      std::copy_n(columns.begin(), read.size(), read.begin());
      map_columns(device, stream, extent.middle, extent.inner, read, f);
    };
    using Activation = decltype(activation);
    if (added == Added::NormalMore)
      run(Normalize<T, Activation, Added::NormalMore>{x, more, y});
    else if (added == Added::More)
      run(Normalize<T, Activation, Added::More>{x, more, y});
    else
      run(Normalize<T, Activation, Added::Nothing>{x, more, y});
  });
}

}  // namespace lethe
