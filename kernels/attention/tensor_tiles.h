// What a warp has of attention on tensor cores: 16 rows of a head in memory, 16 by 16 shares, and sums of 16 rows.
#pragma once
#include "kernels/attention/heads.h"
#include "kernels/tensor_cores.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Rows of a head from a position on; zeros after the last of them, and after a head's numbers, which are even.
template <class T>
struct TileRows {
  const T* data;
  std::int64_t width, size, count;
  __device__ TileRows(const Heads<const T>& of, std::int64_t sample, std::int64_t position, std::int64_t head,
                      std::int64_t end)
      : data(of.at(sample, position, head)), width(of.width), size(of.size), count(end - position) {}

  __device__ std::uint32_t pair(std::int64_t row, std::int64_t d) const {
    return row < count && d < size ? *reinterpret_cast<const std::uint32_t*>(data + row * width + d) : 0;
  }
  __device__ std::uint32_t number(std::int64_t row, std::int64_t d) const {
    return row < count && d < size ? data[row * width + d].bits : 0;
  }
  /// 16 rows, by the 16 numbers from d on.
  __device__ LeftTile left(std::int64_t lane, std::int64_t d) const {
    const std::int64_t g = lane / 4, at = d + 2 * (lane % 4);
    return {{pair(g, at), pair(g + 8, at), pair(g, at + 8), pair(g + 8, at + 8)}};
  }
  /// The 16 numbers from d on, by 8 rows.
  __device__ RightTile turned(std::int64_t lane, std::int64_t row, std::int64_t d) const {
    const std::int64_t g = lane / 4, at = d + 2 * (lane % 4);
    return {{pair(row + g, at), pair(row + g, at + 8)}};
  }
  /// 16 rows, by the 8 numbers from d on.
  __device__ RightTile right(std::int64_t lane, std::int64_t d) const {
    const std::int64_t at = d + lane / 4, row = 2 * (lane % 4);
    const auto pair = [&](std::int64_t r) { return number(r, at) | number(r + 1, at) << 16; };
    return {{pair(row), pair(row + 8)}};
  }
};

/// Of 16 rows and 16 columns, in halves of 8 columns.
struct ShareTile {
  SumTile half[2] = {};

  __device__ float& at(int i) { return half[i / 4].at[i % 4]; }
  /// Calls f(number, which of the lane's numbers, row, column).
  template <class F>
  __device__ void each(std::int64_t lane, const F& f) {
    for (int i = 0; i < 8; ++i) f(at(i), i, lane / 4 + 8 * (i % 4 / 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2);
  }
  /// += the rows of `a` times those of `b`.
  template <class T>
  __device__ void add(std::int64_t lane, const TileRows<T>& a, const TileRows<T>& b) {
    for (std::int64_t d = 0; d < a.size; d += 16) {
      const LeftTile left = a.left(lane, d);
      for (int n = 0; n < 2; ++n) add_product<T>(half[n], left, b.turned(lane, 8 * n, d));
    }
  }
  /// As a factor: its columns are summed over.
  template <class T>
  __device__ LeftTile left() const {
    const auto pair = [this](int n, int i) { return pair_of<T>(half[n].at[i], half[n].at[i + 1]); };
    return {{pair(0, 0), pair(0, 2), pair(1, 0), pair(1, 2)}};
  }
};

/// Sums of 16 rows, for some numbers of a head.
struct HeadSums {
  static constexpr int kNumbers = 64;
  std::int64_t lane, first;  // of the numbers
  SumTile sums[kNumbers / 8] = {};

  /// += shares times rows.
  template <class T>
  __device__ void add(const LeftTile& shares, const TileRows<T>& rows) {
    for (int n = 0; n < kNumbers / 8; ++n)
      if (first + 8 * n < rows.size) add_product<T>(sums[n], shares, rows.right(lane, first + 8 * n));
  }
  __device__ void multiply(float by_first_row, float by_second) {
    for (SumTile& sum : sums)
      for (int i = 0; i < 4; ++i) sum.at[i] *= i < 2 ? by_first_row : by_second;
  }
  template <class T>
  __device__ void write(const Heads<T>& to, std::int64_t sample, std::int64_t position, std::int64_t head) const {
    for (int n = 0; n < kNumbers / 8; ++n)
      for (int i = 0; i < 4; i += 2) {
        const std::int64_t at = position + lane / 4 + 4 * i, d = first + 8 * n + 2 * (lane % 4);
        if (at < to.positions && d < to.size)
          *reinterpret_cast<std::uint32_t*>(to.at(sample, at, head) + d) = pair_of<T>(sums[n].at[i], sums[n].at[i + 1]);
      }
  }
};

}  // namespace lethe
#endif
