// The sums of batch norm's gradient where the gradient of a sum after it is masked on the way.
#pragma once
#include <array>

#include "kernels/low_floats.h"
#include "kernels/packs.h"

namespace lethe {

/// Sums of d and of d * (x - mean), of columns mean: d is dy, or dy + more, where y is not at most 0, and is written on
/// the way, rounded as if by an op of its own.
template <class T, bool kAdds>
struct JoinSums {
  using Terms = std::array<Compute<T>, 2>;
  using Values = std::array<Compute<T>, 1>;
  const T *x, *y, *dy, *more;
  T* masked;
  /// A value of T, in Compute<T>: GCC vectorises no loop that stores a low float and computes with it.
  HD static Compute<T> gradient_of(Compute<T> y, Compute<T> dy, Compute<T> more) {
    return compute(static_cast<T>(y <= 0 ? Compute<T>(0) : kAdds ? dy + more : dy));
  }
  HD static Terms terms_of(Compute<T> x, Compute<T> d, const Values& v) { return {d, d * (x - v[0])}; }
  HD Terms operator()(std::int64_t i, const Values& v) const {
    const Compute<T> d = gradient_of(y[i], dy[i], kAdds ? compute(more[i]) : Compute<T>(0));
    masked[i] = exactly<T>(d);
    return terms_of(x[i], d, v);
  }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return lethe::can_pack({x, y, dy, kAdds ? more : dy, masked}); }
  template <int V>
  HD void pack(std::int64_t, std::int64_t i, const Values* of, Terms* terms) const {
    const Pack<T, V> of_x = load_pack<V>(x + i), of_y = load_pack<V>(y + i), of_dy = load_pack<V>(dy + i);
    const Pack<T, V> of_more = load_pack<V>((kAdds ? more : dy) + i);
    Pack<T, V> to;
    for (int v = 0; v < V; ++v) {
      const Compute<T> d = gradient_of(of_y.at[v], of_dy.at[v], of_more.at[v]);
      to.at[v] = exactly<T>(d);
      terms[v] = terms_of(of_x.at[v], d, of[v]);
    }
    store_pack(masked + i, to);
  }
};

}  // namespace lethe
