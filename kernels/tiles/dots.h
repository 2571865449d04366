// The tiles that a processor multiplies by: AMX's, or in their place AVX-512's products of pairs of bf16, or plain
// code. Products of pairs read tiles where they are packed, and keep eight rows of 32 sums in registers.
#pragma once
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/bf16_units.h"
#include "kernels/tiles/blocks.h"

namespace lethe::tiles {

#ifdef __AVX512BF16__
/// Stands for AmxTiles where blocks are multiplied; it has no registers of its own.
struct DotTiles {
  static constexpr const char* kName = "AVX-512 bf16";
};

inline constexpr std::int64_t kPackedRow = kDepth * sizeof(Bf16);  // bytes

/// Eight rows of one or two tiles of sums; `right_next`: elements to the tiles of the next 16 columns. Packed: the left
/// factor is, so that its rows are found by numbers in the code alone.
template <int Columns, bool Packed>
[[gnu::noinline]] void multiply_eight_rows(std::int64_t depth, const LeftTiles& left, const Bf16* right,
                                           std::int64_t right_next, bool adds, const SumTiles& sums) {
  constexpr int kHeld = 8;
  __m512 held[kHeld][Columns];
  const auto at = [&](int row, int column) {
    return reinterpret_cast<float*>(reinterpret_cast<char*>(sums.data + column * sums.next_columns) +
                                    row * sums.stride);
  };
#pragma GCC unroll 8
  for (int row = 0; row < kHeld; ++row)
#pragma GCC unroll 2
    for (int column = 0; column < Columns; ++column)
      held[row][column] = adds ? _mm512_loadu_ps(at(row, column)) : _mm512_setzero_ps();
  const std::int64_t stride = Packed ? kPackedRow : left.stride, step = Packed ? kSize : left.step;
  const Bf16* of_left = left.data;
  for (std::int64_t tile = 0; tile < depth; ++tile, of_left += step, right += kSize) {
    const char* pairs = reinterpret_cast<const char*>(of_left);
    for (std::int64_t k = 0; k < kSize; k += kDepth, pairs += 2 * sizeof(Bf16)) {
      __m512bh factors[Columns];
#pragma GCC unroll 2
      for (int column = 0; column < Columns; ++column)
        factors[column] = std::bit_cast<__m512bh>(_mm512_loadu_si512(right + column * right_next + k));
#pragma GCC unroll 8
      for (int row = 0; row < kHeld; ++row) {
        std::int32_t pair;
        std::memcpy(&pair, pairs + row * stride, sizeof pair);
        const auto factor = std::bit_cast<__m512bh>(_mm512_set1_epi32(pair));
#pragma GCC unroll 2
        for (int column = 0; column < Columns; ++column)
          held[row][column] = _mm512_dpbf16_ps(held[row][column], factor, factors[column]);
      }
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < kHeld; ++row)
#pragma GCC unroll 2
    for (int column = 0; column < Columns; ++column) _mm512_storeu_ps(at(row, column), held[row][column]);
}

/// As that of blocks.h.
inline void multiply_block(DotTiles&, std::int64_t depth, LeftTiles left, const Bf16* right, bool adds, BlockSize size,
                           const SumTiles& sums) {
  constexpr std::int64_t kHalf = kRows / 2;
  const bool packed = left.stride == kPackedRow && left.step == kSize;
  const auto multiply = size.columns > kColumns
                            ? (packed ? multiply_eight_rows<2, true> : multiply_eight_rows<2, false>)
                            : (packed ? multiply_eight_rows<1, true> : multiply_eight_rows<1, false>);
  for (std::int64_t row = 0; row < size.rows; row += kRows)
    for (std::int64_t half = 0; half < kRows; half += kHalf) {
      LeftTiles of_left = left;
      of_left.data += (row > 0 ? left.next : 0) + half * left.stride / std::int64_t{sizeof(Bf16)};
      SumTiles to = sums;
      to.data += (row > 0 ? sums.next_rows : 0) + half * sums.stride / std::int64_t{sizeof(float)};
      multiply(depth, of_left, right, depth * kSize, adds, to);
    }
}

using OtherTiles = DotTiles;
#else
using OtherTiles = PlainTiles;
#endif

/// Calls make with a std::type_identity of the tiles: of AMX where the processor has it.
template <class F>
auto for_tiles(F make) {
  return has_amx() ? make(std::type_identity<AmxTiles>()) : make(std::type_identity<OtherTiles>());
}

/// Whether the processor multiplies tiles faster than numbers in f32.
inline bool are_fast() { return has_amx() || has_fast_dots(); }

}  // namespace lethe::tiles
