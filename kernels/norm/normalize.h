// What batch norm does once it knows the statistics: a linear function for each channel, and on the way what the ops
// behind it would do.
#pragma once
#include <array>
#include <type_traits>

#include "kernels/activation.h"
#include "kernels/low_floats.h"
#include "kernels/norm/batch.h"
#include "kernels/packs.h"

namespace lethe {

/// What `Normalize` reads of a channel, computed from its statistics: mean, factor and offset. No scale: 1; no bias: 0.
template <class T>
struct NormalColumns {
  double eps;
  const T *scale, *bias, *mean, *var;
};
template <class T>
HD std::array<T, 3> values_at(const NormalColumns<T>& of, std::int64_t c) {
  const double factor =
      factor_of(of.scale ? static_cast<double>(of.scale[c]) : 1, static_cast<double>(of.var[c]), of.eps);
  return {of.mean[c], static_cast<T>(factor), of.bias ? of.bias[c] : T(0)};
}

/// The same, written down.
template <class T>
struct StoreNormalColumns {
  NormalColumns<T> of;
  T *factor, *offset;
  HD void operator()(std::int64_t c) const {
    const std::array<T, 3> values = values_at(of, c);
    factor[c] = values[1];
    offset[c] = values[2];
  }
};

/// y = (x - mean) * factor + offset, with `kAdds` plus `more`, activated; each of these steps rounded as if an op of
/// its own had done it.
template <class T, class Activation, bool kAdds>
struct Normalize {
  const T *x, *more;
  T* y;
  HD static Compute<T> rounded(Compute<T> value) { return compute(static_cast<T>(value)); }
  HD static Compute<T> value(Compute<T> x, Compute<T> more, const std::array<Compute<T>, 3>& v) {
    const Compute<T> normal = rounded((x - v[0]) * v[1] + v[2]);
    if constexpr (kAdds) return Activation{}(rounded(normal + more));
    return Activation{}(normal);
  }
  HD void operator()(std::int64_t i, const std::array<Compute<T>, 3>& v) const {
    y[i] = value(x[i], kAdds ? compute(more[i]) : Compute<T>(0), v);
  }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return kAdds ? lethe::can_pack({x, more, y}) : lethe::can_pack({x, y}); }
  template <int V>
  HD void pack(std::int64_t i, const std::array<Compute<T>, 3>* values) const {
    const Pack<T, V> from = load_pack<V>(x + i), added = load_pack<V>((kAdds ? more : x) + i);
    Pack<T, V> to;
    for (int k = 0; k < V; ++k) to.at[k] = value(from.at[k], added.at[k], values[k]);
    store_pack(y + i, to);
  }
};

/// Calls `body` with the type of Normalize that an op needs.
template <class T, class Body>
void for_normalize(bool adds, bool relu, const Body& body) {
  for_activation(relu, [&](auto activation) {
    if (adds)
      body(std::type_identity<Normalize<T, decltype(activation), true>>{});
    else
      body(std::type_identity<Normalize<T, decltype(activation), false>>{});
  });
}

}  // namespace lethe
