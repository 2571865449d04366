// Blocks of 32 x 32 sums of products on AMX's tiles (kernels/tiles/registers.h).
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels/tiles/panels.h"

namespace lethe::tiles {

inline constexpr std::int64_t kBlock = 2 * kRows;

/// Tiles of the left factor, packed or as the factor lies: `stride` bytes from row to row, `step` elements from tile to
/// tile along k, `next` to the tiles of the next 16 rows.
struct LeftTiles {
  const Bf16* data;
  std::int64_t stride, step, next;
};
inline LeftTiles packed_left(const Panel& panel, const Bf16* packed, std::int64_t piece, std::int64_t at) {
  return {packed + panel.offset(piece, at), kDepth * sizeof(Bf16), kSize, panel.depth_of(piece) * kSize};
}

/// Four tiles of f32: `stride` bytes from row to row, so many elements to the next 16 columns and the next 16 rows.
struct SumTiles {
  float* data;
  std::int64_t stride, next_columns, next_rows;
};

struct BlockSize {
  std::int64_t rows, columns;  // of sums, at most 32
};

/// sums = or += left right, of so many tiles along k; those of the right factor are packed. Whole tiles are written.
template <class Tiles>
void multiply_block(Tiles& registers, std::int64_t depth, LeftTiles left, const Bf16* right, bool adds, BlockSize size,
                    const SumTiles& sums) {
  constexpr std::int64_t kPacked = kDepth * sizeof(Bf16);
  constexpr int kLeft = 4, kRight = 6;  // and one more each; sums are 0 to 3
  const bool two_rows = size.rows > kRows, two_columns = size.columns > kColumns, four = two_rows && two_columns;
  const std::int64_t next = depth * kSize;
  float* const below = sums.data + sums.next_rows;
  if (adds) {
    registers.template load<0>(sums.data, sums.stride);
    if (two_columns) registers.template load<1>(sums.data + sums.next_columns, sums.stride);
    if (two_rows) registers.template load<2>(below, sums.stride);
    if (four) registers.template load<3>(below + sums.next_columns, sums.stride);
  } else {
    registers.template zero<0>();
    registers.template zero<1>();
    registers.template zero<2>();
    registers.template zero<3>();
  }
  for (std::int64_t at = 0; at < next; at += kSize, left.data += left.step) {
    registers.template load<kLeft>(left.data, left.stride);
    if (two_rows) registers.template load<kLeft + 1>(left.data + left.next, left.stride);
    registers.template load<kRight>(right + at, kPacked);
    if (two_columns) registers.template load<kRight + 1>(right + next + at, kPacked);
    registers.template multiply<0, kLeft, kRight>();
    if (two_columns) registers.template multiply<1, kLeft, kRight + 1>();
    if (two_rows) registers.template multiply<2, kLeft + 1, kRight>();
    if (four) registers.template multiply<3, kLeft + 1, kRight + 1>();
  }
  registers.template store<0>(sums.data, sums.stride);
  if (two_columns) registers.template store<1>(sums.data + sums.next_columns, sums.stride);
  if (two_rows) registers.template store<2>(below, sums.stride);
  if (four) registers.template store<3>(below + sums.next_columns, sums.stride);
}

/// Of packed factors, the rows from i on and the columns from j on: whole tiles of sums are written.
template <bool Adds, class Tiles>
void multiply_panel_block(Tiles& registers, const Panel& left, const Bf16* of_left, std::int64_t i, const Panel& right,
                          const Bf16* of_right, std::int64_t j, BlockSize size, const SumTiles& sums) {
  for (std::int64_t piece = 0; piece < left.pieces(); ++piece)
    multiply_block(registers, left.depth_of(piece), packed_left(left, of_left, piece, i / kRows),
                   of_right + right.offset(piece, j / kColumns), Adds || piece > 0, size, sums);
}

/// c[left.vectors, right.vectors] = or += the product; c has whole tiles of columns.
template <bool Adds, class Tiles>
void multiply_panels(Tiles& registers, const Panel& left, const Bf16* of_left, const Panel& right, const Bf16* of_right,
                     float* c, std::int64_t c_row) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(float));
  for (std::int64_t i = 0; i < left.vectors; i += kBlock)
    for (std::int64_t j = 0; j < right.vectors; j += kBlock) {
      const BlockSize size{std::min(kBlock, left.vectors - i), std::min(kBlock, right.vectors - j)};
      float* const to = c + i * c_row + j;
      if (size.rows % kRows == 0) {
        multiply_panel_block<Adds>(registers, left, of_left, i, right, of_right, j, size,
                                   {to, c_row * kBytes, kColumns, kRows * c_row});
        continue;
      }
      float part[kBlock][kBlock];  // what follows the last row in c is another's
      multiply_panel_block<false>(registers, left, of_left, i, right, of_right, j, size,
                                  {part[0], kBlock * kBytes, kColumns, kRows * kBlock});
      for (std::int64_t row = 0; row < size.rows; ++row)
        for (std::int64_t column = 0; column < size.columns; ++column)
          to[row * c_row + column] = part[row][column] + (Adds ? to[row * c_row + column] : 0);
    }
}

}  // namespace lethe::tiles
