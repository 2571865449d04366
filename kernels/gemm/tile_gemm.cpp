// Products of bf16 by AMX's tiles, or by what stands in their place. A task is some rows of the result by some columns,
// and no other works on these. It packs the columns of the right factor as tiles, a panel that stays in a second-level
// cache, then 32 rows of the left one after another, and multiplies the panel by a piece of them at a time that stays
// in a first-level cache. A sum is one chain over k, whatever the tasks: it goes on in f32 from piece to piece.
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>

#include "kernels/cpu/parallel.h"
#include "kernels/gemm/providers.h"
#include "kernels/low_lanes.h"
#include "kernels/tiles/blocks.h"
#include "kernels/tiles/dots.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

using tiles::Panel, tiles::Side, tiles::Vectors;

constexpr std::int64_t kPanelBytes = 1 << 20, kPanelTerms = 1024;  // of a panel, at most
constexpr std::int64_t kSumsBytes = 1 << 20;                       // that wait for another panel
constexpr std::int64_t kFewColumns = 128;                          // packing rows takes longer than they save
constexpr std::int64_t kManySums = 1 << 20;  // of a weight's gradient in f32, more than a block of rows (row_blocks.h)
constexpr std::int64_t kLineBytes = 64;      // of a cache
constexpr std::int64_t kTileSums = tiles::kRows * tiles::kColumns;

constexpr std::int64_t parts_of(std::int64_t n, std::int64_t part) { return (n + part - 1) / part; }
/// The size of each part but the last, if n is cut into as few parts of at most `most` as possible, all about as large;
/// rounded up to a multiple.
constexpr std::int64_t even_part(std::int64_t n, std::int64_t most, std::int64_t multiple) {
  n = std::max<std::int64_t>(n, 1);
  return round_up(parts_of(n, parts_of(n, std::max(most, multiple))), multiple);
}

/// Writes two vectors. `past`: past the cache, which does not read then what stood there; fence_stores() must come
/// before another thread reads them.
void store_both(const simd::Lanes& low, const simd::Lanes& high, float* to, bool past) {
#ifdef __AVX512F__
  if (past) {
    _mm512_stream_ps(to, std::bit_cast<__m512>(low));
    return _mm512_stream_ps(to + simd::kLanes, std::bit_cast<__m512>(high));
  }
#else
  (void)past;
#endif
  simd::store(low, to);
  simd::store(high, to + simd::kLanes);
}
void store_both(const simd::Lanes& low, const simd::Lanes& high, Bf16* to, bool) {
#ifdef __AVX512BF16__
  // There are no denormals, which alone this rounds otherwise than Bf16 does: tiles and workers flush them.
  const auto rounded = _mm512_cvtne2ps_pbh(std::bit_cast<__m512>(high), std::bit_cast<__m512>(low));
  std::memcpy(to, &rounded, sizeof rounded);
#else
  simd::store(low, to, simd::kLanes);
  simd::store(high, to + simd::kLanes, simd::kLanes);
#endif
}
void fence_stores() {
#ifdef __AVX512F__
  _mm_sfence();
#endif
}

/// Into how many parts c is cut, one task each.
struct Cut {
  std::int64_t rows, columns;
};
/// That with the least to pack, of those that cut the columns into so many parts at least and give each worker as many
/// tasks as the others, if there is enough for all.
Cut best_cut(const GemmShape& s, std::int64_t columns, std::int64_t workers) {
  const std::int64_t most = std::max(columns, parts_of(s.n, tiles::kBlock));
  const auto to_pack = [&](const Cut& cut) { return s.m * cut.columns + s.n * cut.rows; };
  std::optional<Cut> best;
  for (std::int64_t across = columns; across <= std::min(most, columns + workers); ++across) {
    const std::int64_t apart = std::gcd(s.batch * across, workers);
    const Cut cut{std::min(workers / apart, std::max<std::int64_t>(parts_of(s.m, tiles::kBlock), 1)), across};
    if (!best || to_pack(cut) < to_pack(*best)) best = cut;
  }
  return *best;
}

/// B: of b in memory; C: of c.
template <class Tiles, class B, class C>
class TileGemm final : public Kernel {
 public:
  TileGemm(const GemmShape& s, int threads) : s_(s), terms_(even_part(s.k, kPanelTerms, tiles::kDepth)) {
    const std::int64_t most_columns = kPanelBytes / (terms_ * std::int64_t{sizeof(Bf16)});
    const Cut cut = best_cut(s, std::max<std::int64_t>(parts_of(s.n, most_columns), 1), threads);
    columns_ = even_part(s.n, parts_of(s.n, cut.columns), tiles::kBlock);
    rows_ = even_part(s.m, parts_of(s.m, cut.rows), tiles::kBlock);
    if (s.k > terms_)
      rows_ = std::min(rows_, even_part(s.m, kSumsBytes / (columns_ * std::int64_t{sizeof(float)}), tiles::kBlock));
    workers_ = std::clamp<std::int64_t>(s.batch * parts_of(s.m, rows_) * parts_of(s.n, columns_), 1, threads);
    panel_size_ = columns_ * terms_, left_size_ = tiles::kBlock * terms_;
    sums_size_ = (s.k > terms_ ? rows_ : tiles::kBlock) * columns_;
    packed_ = layout_.add_array<Bf16>(workers_ * (panel_size_ + left_size_));
    sums_ = layout_.add_array<float>(workers_ * sums_size_);
  }
  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  std::string implementation() const override { return "own " + std::string(Tiles::kName); }

  void run(const KernelArgs& args) const override {
    const std::int64_t down = parts_of(s_.m, rows_), across = parts_of(s_.n, columns_);
    parallel_tasks(s_.batch * down * across, static_cast<int>(workers_), [&](std::int64_t task, int worker) {
      const std::int64_t row = task / across % down * rows_, column = task % across * columns_;
      multiply_part(of_stack(args, task / across / down, worker),
                    {row, column, std::min(rows_, s_.m - row), std::min(columns_, s_.n - column)});
      fence_stores();
    });
  }

 private:
  /// One product of the stack, and a worker's memory.
  struct Product {
    Vectors<Bf16> a;
    Vectors<B> b;
    const Bf16* bias;
    C* c;
    Bf16 *panel, *left;
    float* sums;
    bool past;  // c is written past the cache
  };
  /// Some rows of c by some columns.
  struct Part {
    std::int64_t row, column, rows, columns;
  };

  Product of_stack(const KernelArgs& args, std::int64_t i, int worker) const {
    C* const c = args.out<C>(0) + i * s_.m * s_.n;
    const bool in_lines =
        reinterpret_cast<std::uintptr_t>(c) % kLineBytes == 0 && s_.row_c() * sizeof(C) % kLineBytes == 0;
    Bf16* const packed = packed_.at<Bf16>(args) + worker * (panel_size_ + left_size_);
    return {.a = {args.in<Bf16>(0) + i * s_.m * s_.k, s_.row_a(), s_.transpose_a},
            .b = {args.in<B>(1) + i * s_.k * s_.n, s_.row_b(), !s_.transpose_b},
            .bias = s_.epilogue.bias ? args.in<Bf16>(2) : nullptr,
            .c = c,
            .panel = packed,
            .left = packed + panel_size_,
            .sums = sums_.at<float>(args) + worker * sums_size_,
            .past = in_lines && s_.wide_c && !s_.accumulate && s_.m * s_.n > kManySums};
  }

  void multiply_part(const Product& product, const Part& part) const {
    for (std::int64_t term = 0; term < s_.k; term += terms_) {
      const Panel panel{part.columns, std::min(terms_, s_.k - term)};
      const Vectors<B> b = product.b.from(part.column, term);
      tiles::pack(panel, b, Side::Right, product.panel);
      for (std::int64_t row = 0; row < part.rows; row += tiles::kBlock)
        multiply_rows(product, part, panel, term, row, std::min(tiles::kBlock, part.rows - row));
    }
  }

  /// At most 32 rows, from `row` of the part on, by a panel whose first term is `term`.
  void multiply_rows(const Product& product, const Part& part, const Panel& panel, std::int64_t term, std::int64_t row,
                     std::int64_t rows) const {
    const Panel left{rows, panel.terms};
    const Vectors<Bf16> a = product.a.from(part.row + row, term);
    // Whole tiles of rows can be loaded from where they lie.
    const bool packs =
        s_.transpose_a || rows < tiles::kBlock || panel.terms % tiles::kDepth != 0 || part.columns > kFewColumns;
    if (packs) tiles::pack(left, a, Side::Left, product.left);
    float* const sums = product.sums + (s_.k > terms_ ? row * columns_ : 0);
    Tiles registers;
    for (std::int64_t piece = 0; piece < left.pieces(); ++piece)
      for (std::int64_t column = 0; column < part.columns; column += tiles::kBlock) {
        const tiles::LeftTiles of_left = packs ? packed_left(left, product.left, piece, 0) : tiles_there(a, piece);
        float* const block = sums + column * tiles::kBlock;
        const std::int64_t columns = std::min(tiles::kBlock, part.columns - column);
        const bool is_last = piece + 1 == left.pieces() && term + panel.terms == s_.k;
        if (is_last && !product.past) prefetch_c(product, part.row + row, part.column + column, rows);
        multiply_block(registers, left.depth_of(piece), of_left,
                       product.panel + panel.offset(piece, column / tiles::kColumns), term > 0 || piece > 0,
                       {rows, columns}, {block, tiles::kColumns * sizeof(float), kTileSums, 2 * kTileSums});
        if (is_last) write(product, part.row + row, part.column + column, rows, columns, block);
      }
  }

  static tiles::LeftTiles tiles_there(const Vectors<Bf16>& a, std::int64_t piece) {
    return {a.from(0, piece * Panel::kPieceTiles * tiles::kDepth).data, a.stride * std::int64_t{sizeof(Bf16)},
            tiles::kDepth, tiles::kRows * a.stride};
  }

  /// Brings into the cache what will be written when the block is multiplied.
  void prefetch_c(const Product& product, std::int64_t row, std::int64_t column, std::int64_t rows) const {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < tiles::kBlock; j += kLineBytes / sizeof(C))
        __builtin_prefetch(product.c + (row + i) * s_.row_c() + column + j, 1);
  }

  void write(const Product& product, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns,
             const float* sums) const {
    const Bf16* const bias = product.bias ? product.bias + column : nullptr;
    C* const c = product.c + row * s_.row_c() + column;
    for (std::int64_t i = 0; i < rows; ++i) {
      const float* const from = sums + i / tiles::kRows * 2 * kTileSums + i % tiles::kRows * tiles::kColumns;
      C* const to = c + i * s_.row_c();
      const auto lanes = [&](std::int64_t j, std::int64_t count) {
        simd::Lanes lanes = simd::load(from + j / tiles::kColumns * kTileSums + j % tiles::kColumns);
        if (bias) lanes += simd::load(bias + j, count);
        if (s_.accumulate) lanes += simd::load(to + j, count);
        return lanes;
      };
      if (columns == tiles::kBlock)
        for (std::int64_t j = 0; j < tiles::kBlock; j += 2 * simd::kLanes)
          store_both(lanes(j, simd::kLanes), lanes(j + simd::kLanes, simd::kLanes), to + j, product.past);
      else
        for (std::int64_t j = 0; j < columns; j += simd::kLanes)
          simd::store(lanes(j, columns - j), to + j, columns - j);
    }
  }

  GemmShape s_;
  std::int64_t terms_;                   // of a panel
  std::int64_t columns_ = 0, rows_ = 0;  // of a task
  std::int64_t workers_ = 1;
  std::int64_t panel_size_ = 0, left_size_ = 0, sums_size_ = 0;  // elements of a worker
  WorkspaceLayout layout_;
  WorkspacePart packed_, sums_;
};

template <class Tiles>
std::unique_ptr<Kernel> on_tiles(const GemmShape& s, int threads) {
  if (s.wide_b && s.wide_c) return std::make_unique<TileGemm<Tiles, float, float>>(s, threads);
  if (s.wide_b) return std::make_unique<TileGemm<Tiles, float, Bf16>>(s, threads);
  if (s.wide_c) return std::make_unique<TileGemm<Tiles, Bf16, float>>(s, threads);
  return std::make_unique<TileGemm<Tiles, Bf16, Bf16>>(s, threads);
}

}  // namespace

std::unique_ptr<Kernel> prepare_gemm_on_tiles(const GemmShape& s, int threads) {
  return tiles::for_tiles([&](auto of) { return on_tiles<typename decltype(of)::type>(s, threads); });
}

}  // namespace lethe
