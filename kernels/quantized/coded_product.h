// A product by a weight in few bits on a GPU's tensor cores: no copy of its numbers is written and read again. A block
// has 128 columns of c, 32 a warp, by 64 rows, and takes 64 terms at a time. The weight is the left factor, which a
// warp decodes as its codes lie (coded_weight.h); rows of a come through shared memory, the next terms of them while
// these are worked on. A sum adds its terms in one order, whatever rows and columns are beside it.
#pragma once
#include "kernels/dtypes.h"
#include "kernels/packs.h"
#include "kernels/quantized/coded_weight.h"
#include "kernels/shared_copies.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// c[m, n] = a[m, k] b, and then a bias[n] unless that is null.
template <class T, class Weight>
struct CodedProduct {
  static constexpr int kRows = 64, kColumns = static_cast<int>(kWarps) * DecodedTile::kColumns,
                       kTerms = 2 * DecodedTile::kTerms;
  static constexpr int kPacks = kTerms / 8;  // of a row of a in shared memory
  struct alignas(kPackBytes) RowPack {
    std::uint32_t pairs[4];
  };

  Weight weight;
  const T *a, *bias;
  T* c;
  std::int64_t m, row_a, row_c;
  int n, k;

  __device__ void operator()(std::int64_t row, int first_column) const {
    __shared__ RowPack rows[2][kRows * kPacks];
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int of_warp = first_column + static_cast<int>(threadIdx.x / 32) * DecodedTile::kColumns;
    // A warp after the last column computes what it does not write.
    const int column = (of_warp < n ? of_warp : 0) + lane / 4 * 4;
    const int count = static_cast<int>(m - row < kRows ? m - row : kRows);
    Sums sums = {};
    copy(row, count, 0, rows[0]);
    for (int term = 0, half = 0; term < k; term += kTerms, half = 1 - half) {
      DecodedTile tile = weight.decoded(column, term + lane % 4 * 8);
      meet_copies();
      if (term + kTerms < k) copy(row, count, term + kTerms, rows[1 - half]);
      add(sums, tile, rows[half], count, 0);
      tile = weight.decoded(column, term + DecodedTile::kTerms + lane % 4 * 8);
      add(sums, tile, rows[half], count, 4);
    }
    if (of_warp < n) write(sums, row, column);
  }

 private:
  using Sums = SumTile[2][kRows / 8];  // of the first and the last two of a lane's columns, for 8 rows

  /// Of pack `of` of a row. Lanes that read at once have packs of two rows: these lie in different banks.
  __device__ static int place(int row, int of) { return row * kPacks + (of ^ row % 2 * 4); }

  /// Starts to copy the first `count` rows that follow, up to 64 terms of each; zeros for the rest.
  __device__ void copy(std::int64_t row, int count, int term, RowPack* to) const {
    constexpr int kStep = 32 * static_cast<int>(kWarps) / kPacks;  // rows at once, a thread a pack
    const int r = static_cast<int>(threadIdx.x) / kPacks, of = static_cast<int>(threadIdx.x) % kPacks;
    const int terms = k - term - 8 * of, bytes = static_cast<int>(sizeof(T)) * (terms < 0 ? 0 : terms < 8 ? terms : 8);
    const T* from = a + (row + r) * row_a + term + 8 * of;
    to += place(r, of);
    LETHE_UNROLL
    for (int i = 0; i < kRows; i += kStep, from += kStep * row_a)
      copy_later<16>(to + i * kPacks, from, r + i < count ? bytes : 0);
  }

  /// sums += what the tile gives with four packs of each of the first `count` rows.
  __device__ static void add(Sums& sums, const DecodedTile& tile, const RowPack* rows, int count, int first) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    LETHE_UNROLL
    for (int j = 0; j < kRows / 8; ++j) {
      if (8 * j >= count) break;
      const RowPack pack = rows[place(8 * j + lane / 4, first + lane % 4)];
      for (int step = 0; step < 2; ++step)
        for (int two = 0; two < 2; ++two)
          add_product<T>(sums[two][j], tile.at[step][two], {{pack.pairs[2 * step], pack.pairs[2 * step + 1]}});
    }
  }

  __device__ void write(const Sums& sums, std::int64_t row, int column) const {
    const int columns = n - column < 4 ? n - column : 4;
    float of_column[4] = {};
    for (int i = 0; i < columns && bias; ++i) of_column[i] = bias[column + i];
    LETHE_UNROLL
    for (int i = 0; i < kRows / 4; ++i) {
      const int j = i / 2, which = i % 2;
      const std::int64_t r = row + 8 * j + static_cast<int>(threadIdx.x % 4) * 2 + which;
      if (r >= m) break;
      Pack<T, 4> four;
      for (int x = 0; x < 4; ++x) four.at[x] = static_cast<T>(sums[x / 2][j].at[x % 2 * 2 + which] + of_column[x]);
      T* const to = c + r * row_c + column;
      if (columns == 4) store_pack(to, four);
      for (int x = 0; x < columns && columns < 4; ++x) to[x] = four.at[x];
    }
  }
};

}  // namespace lethe
#endif
