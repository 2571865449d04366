// How a block of attention gets rows of heads into its shared memory: it starts the copies of a tile, works on the tile
// before, which is in other memory, and then waits. And how a warp writes rows.
#pragma once
#include "kernels/attention/heads.h"
#include "kernels/attention/shared_rows.h"
#include "kernels/shared_copies.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// A head of a sample in memory.
template <class T>
struct HeadRows {
  const T* data;
  int width, size;
  bool packs;  // 16 bytes can be read at once
  __device__ HeadRows(const Heads<const T>& of, std::int64_t sample, std::int64_t head, bool packs)
      : data(of.at(sample, 0, head)),
        width(static_cast<int>(of.width)),
        size(static_cast<int>(of.size)),
        packs(packs) {}

  /// Starts to copy Rows rows from a position on, with all threads of the block; zeros after the last row and after a
  /// head's numbers.
  template <int Rows, int Size>
  __device__ void copy(int position, int end, const SharedRows<T, Size>& to) const {
    constexpr int kThreads = 32 * kWarps, kPacks = Size / 8;
    constexpr int kStep = kThreads / kPacks;  // rows at once, a thread a pack
    const unsigned thread = threadIdx.x;
    if (packs) {
      const int first = static_cast<int>(thread / kPacks), d = static_cast<int>(thread % kPacks) * 8;
      const T* from = data + (std::int64_t{position + first} * width + d);
      const int rows = d < size ? end - position : 0;
      if (first >= kStep) return;
      for (int n = 0; n < Rows; n += kStep, from += kStep * width)
        if (Rows % kStep == 0 || n + first < Rows)
          copy_later<16>(to.from(n + first).data + d, from, n + first < rows ? 16 : 0);
    } else {
      for (int i = static_cast<int>(thread); i < Rows * Size; i += kThreads) {
        const int row = position + i / Size, d = i % Size;
        to.from(i / Size).data[d].bits = row < end && d < size ? data[std::int64_t{row} * width + d].bits : 0;
      }
    }
  }
};

/// Writes 16 rows, those from lane / 4 + 8 on times the second factor; with `pairs` two numbers at once.
template <class T, int N>
__device__ void write_rows(const SumTile (&sums)[N], const float (&factors)[2], const Heads<T>& to, std::int64_t sample,
                           std::int64_t head, int position, bool pairs) {
  const int lane = static_cast<int>(threadIdx.x % 32), size = static_cast<int>(to.size);
  for (int r = 0; r < 2; ++r) {
    const int at = position + lane / 4 + 8 * r, first = 2 * (lane % 4);
    if (at >= to.positions) continue;
    T* const numbers = to.at(sample, at, head);
    for (int n = 0; n < N; ++n) {
      const int d = 8 * n + first;
      const std::uint32_t pair = pair_of<T>(sums[n].at[2 * r] * factors[r], sums[n].at[2 * r + 1] * factors[r]);
      if (pairs && d < size) *reinterpret_cast<std::uint32_t*>(numbers + d) = pair;
      if (!pairs && d < size) numbers[d].bits = static_cast<std::uint16_t>(pair);
      if (!pairs && d + 1 < size) numbers[d + 1].bits = static_cast<std::uint16_t>(pair >> 16);
    }
  }
}

}  // namespace lethe
#endif
