// One axis of a pooling: where its windows stand, and which of them has a position.
#pragma once
#include "kernels/divisor.h"

namespace lethe {

/// `count` input positions of one axis from `first` on, those of a window a dilation apart, and where the first stands
/// in the window.
struct Reach {
  std::int64_t first, count, skipped;
};

/// One axis of a pooling: `in` positions, windows of `k` positions, `dilation` apart, every `stride`, the first
/// beginning `pad` before the input, the last ending at most `after` after it.
struct PoolAxis {
  std::int64_t in = 1, out = 1, k = 1, pad = 0, after = 0;
  Divisor stride = Divisor(), dilation = Divisor();
  std::int64_t reach = k;  // from the first to the last position of a window, both counted

  HD bool is_dense() const { return dilation.by() == 1; }
  /// Where window `o` begins, which may be in the padding. N: int64, or int32 where that is enough.
  template <class N>
  HD N start(N o) const {
    return o * static_cast<N>(stride.by()) - static_cast<N>(pad);
  }
  /// What window `o` covers of the input; never nothing.
  HD Reach window(std::int64_t o) const { return is_dense() ? dense_window(o) : window_apart(o); }
  HD Reach dense_window(std::int64_t o) const {  // of neighbours
    const std::int64_t start = this->start(o), first = start < 0 ? 0 : start, end = start + k;
    return {first, (end < in ? end : in) - first, first - start};
  }
  /// How many positions that are.
  template <bool kDense, class N>
  HD N count(N o) const {
    if constexpr (!kDense) return static_cast<N>(window(o).count);
    const N start = this->start(o), end = start + static_cast<N>(k);
    return (end < static_cast<N>(in) ? end : static_cast<N>(in)) - (start < 0 ? 0 : start);
  }
  /// The windows that reach over input position `i`; `skipped` is meaningless.
  HD Reach windows_over(std::int64_t i) const {
    const std::int64_t first = i + pad < reach ? 0 : stride.quotient(i + pad - reach) + 1,
                       last = stride.quotient(i + pad);
    return {first, (last < out ? last + 1 : out) - first, 0};
  }
  /// Whether window `o`, which reaches over input position `i`, has it.
  HD bool has(std::int64_t i, std::int64_t o) const { return is_dense() || dilation.remainder(i - start(o)) == 0; }
  /// Where input position `i` stands in window `o`, which has it.
  HD std::int64_t place(std::int64_t i, std::int64_t o) const {
    return is_dense() ? i - start(o) : dilation.quotient(i - start(o));
  }
  /// Positions of window `o` with its padding; what lies after the padding (ceil mode) does not count.
  template <bool kDense, class N>
  HD N padded_count(N o) const {
    const N start = this->start(o), end = start + static_cast<N>(k), last = static_cast<N>(in + after);
    if constexpr (!kDense) return static_cast<N>(places_before(start, last));
    return (end < last ? end : last) - start;
  }

 private:
  HD Reach window_apart(std::int64_t o) const {
    const std::int64_t start = this->start(o), skipped = start < 0 ? places_before(start, 0) : 0;
    return {start + skipped * dilation.by(), places_before(start, in) - skipped, skipped};
  }
  /// How many places of a window that begins at `start` lie before `end`, which is after that.
  HD std::int64_t places_before(std::int64_t start, std::int64_t end) const {
    const std::int64_t places = dilation.quotient(end - start + dilation.by() - 1);
    return places < k ? places : k;
  }
};

}  // namespace lethe
