// The products of a tile of attention (products.h) by the processor's tiles (kernels/tiles/dots.h): of bf16 numbers
// that stand in f32, and of shares and their gradients, which are rounded to bf16. A factor of scores comes after their
// product, so that it rounds nothing to bf16.
#pragma once
#include <algorithm>
#include <initializer_list>

#include "kernels/attention/tiles.h"
#include "kernels/tiles/blocks.h"

namespace lethe::attention {

template <class Tiles>
class TileProducts {
  using Panel = tiles::Panel;

 public:
  using Columns = Bf16;
  TileProducts(const Tile& tile, WorkspaceLayout& worker)
      : tile_(tile),
        left_(worker.add_array<Bf16>(largest(
            {{tile.keys, tile.size}, {tile.rows, tile.keys}, {tile.keys, tile.rows}, {tiles::kRows, tile.size}}))),
        right_(worker.add_array<Bf16>(largest({{tile.padded, tile.keys}, {tile.padded, tile.rows}}))) {}
  std::int64_t columns_size() const { return of_rows().size(); }

  void turn(const float* from, float, Bf16* columns) const { pack(of_rows(), {from, tile_.padded}, kRight, columns); }
  void give_scores(const KernelArgs& a, std::int64_t keys, const float* k, const Bf16* columns, float factor,
                   float* scores) const {
    const Panel of_k{keys, tile_.size};
    pack(of_k, {k, tile_.padded}, kLeft, left_.at<Bf16>(a));
    multiply<false>(a, of_k, of_rows(), columns, scores, tile_.rows);
    if (factor != 1)
      for (std::int64_t i = 0; i < keys * tile_.rows; ++i) scores[i] *= factor;
  }
  void give_dots(const KernelArgs& a, const float* of, const Bf16* columns, float* dots) const {
    Tiles registers;
    const Panel some{tiles::kRows, tile_.size};
    for (std::int64_t first = 0; first < tile_.rows; first += tiles::kRows) {
      pack(some, {of + first * tile_.padded, tile_.padded}, kLeft, left_.at<Bf16>(a));
      float each[tiles::kRows * tiles::kColumns];
      multiply_panel_block<false>(registers, some, left_.at<Bf16>(a), 0, of_rows(), columns, first,
                                  {tiles::kRows, tiles::kColumns}, {each, sizeof(float) * tiles::kColumns, 0, 0});
      for (std::int64_t i = 0; i < tiles::kRows; ++i) dots[first + i] = each[i * tiles::kColumns + i];
    }
  }
  void add_by_rows(const KernelArgs& a, std::int64_t keys, const float* weights, const float* times,
                   float* sums) const {
    add_product(a, {tile_.rows, keys}, {weights, tile_.rows, true}, times, sums);
  }
  void add_by_keys(const KernelArgs& a, std::int64_t keys, const float* weights, const float* times,
                   float* sums) const {
    add_product(a, {keys, tile_.rows}, {weights, tile_.rows}, times, sums);
  }

 private:
  static constexpr tiles::Side kLeft = tiles::Side::Left, kRight = tiles::Side::Right;
  static std::int64_t largest(std::initializer_list<Panel> panels) {
    std::int64_t most = 0;
    for (const Panel& panel : panels) most = std::max(most, panel.size());
    return most;
  }
  static void pack(const Panel& panel, const tiles::Vectors<float>& from, tiles::Side side, Bf16* to) {
    tiles::pack(panel, from, side, to);
  }
  Panel of_rows() const { return {tile_.rows, tile_.size}; }

  /// c = or += what is packed on the left times the right.
  template <bool Adds>
  void multiply(const KernelArgs& a, const Panel& left, const Panel& right, const Bf16* packed, float* c,
                std::int64_t c_row) const {
    Tiles registers;
    multiply_panels<Adds>(registers, left, left_.at<Bf16>(a), right, packed, c, c_row);
  }
  /// sums[left, padded] += left times[terms, padded]
  void add_product(const KernelArgs& a, const Panel& left, const tiles::Vectors<float>& weights, const float* times,
                   float* sums) const {
    const Panel right{tile_.padded, left.terms};
    pack(left, weights, kLeft, left_.at<Bf16>(a));
    pack(right, {times, tile_.padded, true}, kRight, right_.at<Bf16>(a));
    multiply<true>(a, left, right, right_.at<Bf16>(a), sums, tile_.padded);
  }

  Tile tile_;
  WorkspacePart left_, right_;
};

}  // namespace lethe::attention
