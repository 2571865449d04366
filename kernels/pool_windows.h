// The positions of a pooling's window, one after the other: in loops, or written out on a GPU where windows are small
// squares, so that no load waits for what was made of the one before.
#pragma once
#include "kernels/channels.h"
#include "kernels/pool.h"
#include "kernels/unrolled.h"

namespace lethe {

/// A position of a window: pixel row + column of the input. Windows that are written out have their positions beyond
/// the input too: as the nearest inside, which is met once more, and not `inside`.
struct WindowPlace {
  std::int64_t row, column;
  std::int32_t place;  // in the window, rows one after the other
  bool first, inside;
};

template <int K, class Visit>
HD void over_square(const Pooling& p, const Pixel& at, const Visit& visit) {
  const auto nearest = [](std::int32_t i, std::int32_t size) { return i < 0 ? 0 : i < size ? i : size - 1; };
  const auto height = static_cast<std::int32_t>(p.height.in), width = static_cast<std::int32_t>(p.width.in);
  const auto top = p.height.start(static_cast<std::int32_t>(at.h)),
             left = p.width.start(static_cast<std::int32_t>(at.w));
  const std::int32_t image = static_cast<std::int32_t>(at.image) * height;
  unrolled<0, K * K>([&](int number) {
    const int r = number / K, s = number % K;
    const std::int32_t h = nearest(top + r, height), w = nearest(left + s, width);
    visit(WindowPlace{.row = (image + h) * width,
                      .column = w,
                      .place = (h - top) * K + w - left,
                      .first = number == 0,
                      .inside = h == top + r && w == left + s});
  });
}

/// The same in loops. kDense: of windows of neighbours.
template <bool kDense, class Visit>
[[gnu::always_inline]] HD inline void over_positions(const Pooling& p, const Pixel& at, const Visit& visit) {
  const Reach rows = kDense ? p.height.dense_window(at.h) : p.height.window(at.h);
  const Reach columns = kDense ? p.width.dense_window(at.w) : p.width.window(at.w);
  const std::int64_t down = kDense ? 1 : p.height.dilation.by(), along = kDense ? 1 : p.width.dilation.by();
  for (std::int64_t r = 0; r < rows.count; ++r)
    for (std::int64_t s = 0; s < columns.count; ++s)
      visit(WindowPlace{.row = (at.image * p.height.in + rows.first + r * down) * p.width.in,
                        .column = columns.first + s * along,
                        .place = static_cast<std::int32_t>((rows.skipped + r) * p.width.k + columns.skipped + s),
                        .first = r + s == 0,
                        .inside = true});
}

/// Calls visit(place) for each position of window `at` in their order; B: how many channels a thread has. Inlined in
/// any case: what visit refers to must be seen to be a CPU thread's own, or its loop over channels does not vectorise.
template <int B, class Visit>
[[gnu::always_inline]] HD inline void over_window(const Pooling& p, const Pixel& at, const Visit& visit) {
  if constexpr (B > 1 && B < kChannelBlock) {
    if (p.is_small() && p.has_squares(3)) return over_square<3>(p, at, visit);
    if (p.is_small() && p.has_squares(2)) return over_square<2>(p, at, visit);
  }
  if (p.is_dense())
    over_positions<true>(p, at, visit);
  else
    over_positions<false>(p, at, visit);
}

}  // namespace lethe
