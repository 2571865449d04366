// A vector register of floats, and a product whose sums stay in registers. Sources that multiply with this are compiled
// with floating-point contraction: a product is added without being rounded first.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace lethe::simd {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16, kBlockRows = 12;  // rows: so many sums as the registers hold
#else
inline constexpr int kLanes = 8, kBlockRows = 6;
#endif
inline constexpr int kBlockLanes = 2, kPanel = kBlockLanes * kLanes;  // vectors and floats in a row of a block

using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = float;

inline Lanes load(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
inline void store(const Lanes& lanes, float* to) { std::memcpy(to, &lanes, sizeof lanes); }

/// The first `count` only; zeros after them.
inline Lanes load(const float* from, std::int64_t count) {
  if (count >= kLanes) return load(from);
  Lanes lanes = {};
  std::memcpy(&lanes, from, static_cast<std::size_t>(count) * sizeof(float));
  return lanes;
}
inline void store(const Lanes& lanes, float* to, std::int64_t count) {
  if (count >= kLanes) return store(lanes, to);
  std::memcpy(to, &lanes, static_cast<std::size_t>(count) * sizeof(float));
}

/// a[i, d] stands at data[i * row + d * step].
struct Factor {
  const float* data;
  std::int64_t row, step;
};

/// c[Rows, Vectors * kLanes] = or += a[Rows, depth] b[depth, Vectors * kLanes]; the sum is added when it is complete,
/// so that long sums made of many round less.
template <int Rows, int Vectors, bool Adds>
void product_block(std::int64_t depth, Factor a, const float* b, std::int64_t b_row, float* c, std::int64_t c_row) {
  Lanes sum[Rows][Vectors];
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) sum[r][v] = Lanes{};
  for (std::int64_t d = 0; d < depth; ++d, b += b_row, a.data += a.step) {
    Lanes right[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) right[v] = load(b + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const float left = a.data[r * a.row];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) sum[r][v] += left * right[v];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      float* const to = c + r * c_row + v * kLanes;
      store(Adds ? load(to) + sum[r][v] : sum[r][v], to);
    }
}

/// b[d, j] stands at data[j / kPanel * panel + d * row + j % kPanel].
struct Panels {
  const float* data;
  std::int64_t row, panel;
};

/// c[m, n] = or += a[m, depth] b[depth, n]; n is a multiple of kLanes.
template <bool Adds>
void product(std::int64_t m, std::int64_t n, std::int64_t depth, Factor a, Panels b, float* c, std::int64_t c_row) {
  using Block = void (*)(std::int64_t, Factor, const float*, std::int64_t, float*, std::int64_t);
  static constexpr auto blocks = []<int... R>(std::integer_sequence<int, R...>) {
    return std::array<std::array<Block, 2>, kBlockRows>{
        {{product_block<R + 1, 1, Adds>, product_block<R + 1, kBlockLanes, Adds>}...}};
  }
  (std::make_integer_sequence<int, kBlockRows>{});
  for (std::int64_t column = 0; column < n; column += kPanel, b.data += b.panel)
    for (std::int64_t row = 0; row < m; row += kBlockRows) {
      const std::int64_t rows = m - row < kBlockRows ? m - row : kBlockRows;
      blocks[static_cast<std::size_t>(rows - 1)][n - column < kPanel ? 0 : 1](
          depth, {a.data + row * a.row, a.row, a.step}, b.data, b.row, c + row * c_row + column, c_row);
    }
}

}  // namespace lethe::simd
