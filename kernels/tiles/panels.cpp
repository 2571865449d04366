#include "kernels/tiles/panels.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/low_lanes.h"

namespace lethe::tiles {
namespace {

/// A row of a tile: 16 pairs of terms of a vector, or a pair each of 16 vectors. The one tile is the other transposed.
using Pairs [[gnu::vector_size(64)]] = std::uint32_t;
using Numbers [[gnu::vector_size(64)]] = std::uint16_t;
using HalfRow [[gnu::vector_size(32)]] = std::uint16_t;
using Floats [[gnu::vector_size(64)]] = float;
constexpr int kPairs = 16;

template <class V, class T>
V read(const T* from) {
  V values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

/// 16 numbers, in the upper halves.
Pairs rounded(const float* from) { return simd::round_upper_halves<Pairs>(read<Floats>(from)); }

/// 32 terms of a vector.
Pairs pairs_of_row(const Bf16* from) { return read<Pairs>(from); }
Pairs pairs_of_row(const float* from) {
  const auto low = std::bit_cast<Numbers>(rounded(from)), high = std::bit_cast<Numbers>(rounded(from + kPairs));
  return std::bit_cast<Pairs>(__builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29,
                                                      31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61,
                                                      63));
}

/// Two terms each of 16 vectors.
Pairs pairs_of_two(const Bf16* even, const Bf16* odd) {
  const auto low = read<HalfRow>(even), high = read<HalfRow>(odd);
  return std::bit_cast<Pairs>(
      Numbers(__builtin_shufflevector(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25,
                                      10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)));
}
Pairs pairs_of_two(const float* even, const float* odd) { return rounded(even) >> 16 | (rounded(odd) & 0xFFFF0000U); }

/// Exchanges the off-diagonal blocks of `Block` x `Block` in all blocks twice as large.
template <int Block>
void exchange_blocks(Pairs (&rows)[kPairs]) {
#pragma GCC unroll 16
  for (int i = 0; i < kPairs; ++i) {
    if ((i & Block) != 0) continue;
    const Pairs a = rows[i], b = rows[i + Block];
    if constexpr (Block == 8) {
      rows[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      rows[i + Block] = __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    } else if constexpr (Block == 4) {
      rows[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      rows[i + Block] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
    } else if constexpr (Block == 2) {
      rows[i] = __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      rows[i + Block] = __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    } else {
      rows[i] = __builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      rows[i + Block] = __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
    }
  }
}

/// Memory comes faster if it is asked for some tiles before.
constexpr std::int64_t kBytesAhead = 512;

/// The program will soon read what lies `ahead` elements after what it reads here.
template <class T>
void pack_tile(const Vectors<T>& from, Side side, std::int64_t ahead, Bf16* to) {
  Pairs rows[kPairs];
  const T* row = from.data;
  if (from.across)
#pragma GCC unroll 16
    for (int i = 0; i < kPairs; ++i, row += 2 * from.stride) {
      __builtin_prefetch(row + ahead), __builtin_prefetch(row + from.stride + ahead);
      rows[i] = pairs_of_two(row, row + from.stride);
    }
  else
#pragma GCC unroll 16
    for (int i = 0; i < kPairs; ++i, row += from.stride) {
      __builtin_prefetch(row + ahead);
      rows[i] = pairs_of_row(row);
    }
  if (from.across == (side == Side::Left)) {
    exchange_blocks<8>(rows);
    exchange_blocks<4>(rows);
    exchange_blocks<2>(rows);
    exchange_blocks<1>(rows);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kPairs; ++i) std::memcpy(to + i * kDepth, &rows[i], sizeof rows[i]);
}

/// A tile of fewer vectors or terms.
template <class T>
void pack_part(const Vectors<T>& from, Side side, std::int64_t vectors, std::int64_t terms, Bf16* to) {
  alignas(64) T part[kSize] = {};
  const std::int64_t rows = from.across ? terms : vectors, columns = from.across ? vectors : terms,
                     stride = from.across ? kColumns : kDepth;
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(from.data + i * from.stride, columns, part + i * stride);
  pack_tile(Vectors<T>{part, stride, from.across}, side, 0, to);
}

}  // namespace

template <class T>
void pack(const Panel& panel, const Vectors<T>& from, Side side, Bf16* to) {
  const bool is_narrow = from.across && panel.across() * kColumns * std::int64_t{sizeof(T)} < kBytesAhead;
  const std::int64_t ahead = is_narrow ? kDepth * from.stride : kBytesAhead / std::int64_t{sizeof(T)};
  const auto pack_at = [&](std::int64_t at, std::int64_t tile) {
    const std::int64_t vectors = std::min(kRows, panel.vectors - at * kRows),
                       terms = std::min(kDepth, panel.terms - tile * kDepth);
    const Vectors<T> here = from.from(at * kRows, tile * kDepth);
    Bf16* const there =
        to + panel.offset(tile / Panel::kPieceTiles, at) + tile % Panel::kPieceTiles * std::int64_t{kSize};
    if (vectors == kRows && terms == kDepth)
      pack_tile(here, side, ahead, there);
    else
      pack_part(here, side, vectors, terms, there);
  };
  // Memory is read as it lies.
  if (from.across)
    for (std::int64_t tile = 0; tile < panel.depth(); ++tile)
      for (std::int64_t at = 0; at < panel.across(); ++at) pack_at(at, tile);
  else
    for (std::int64_t at = 0; at < panel.across(); ++at)
      for (std::int64_t tile = 0; tile < panel.depth(); ++tile) pack_at(at, tile);
}

template void pack(const Panel&, const Vectors<Bf16>&, Side, Bf16*);
template void pack(const Panel&, const Vectors<float>&, Side, Bf16*);

}  // namespace lethe::tiles
