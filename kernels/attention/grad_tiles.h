// What the gradients of attention on a CPU make again, tile by tile: shares p and the gradients da of scores (shape.h).
#pragma once
#include "kernels/attention/kept_tile.h"
#include "kernels/attention/softcap.h"

namespace lethe::attention {

/// The memory of a worker, for a block of rows of one head at a time. y, lse and dy are inputs from slot kSlotOfY on
/// (heads.h).
template <class T, class Products>
class GradTiles {
 public:
  using C = Compute<T>;
  using Columns = typename Products::Columns;

  GradTiles(const AttentionShape& s, WorkspaceLayout& worker) : products(Tile(s), worker), s_(s), tile_(s) {
    for (WorkspacePart* part : {&q_columns_, &dy_columns_}) *part = worker.add_array<Columns>(products.columns_size());
    for (WorkspacePart* part : {&q, &dy}) *part = worker.add_array<C>(tile_.of_rows());
    for (WorkspacePart* part : {&k, &v_}) *part = worker.add_array<C>(tile_.of_keys());
    for (WorkspacePart* part : {&p, &da}) *part = worker.add_array<C>(tile_.of_scores());
    for (WorkspacePart* part : {&lse_, &delta_}) *part = worker.add_array<C>(tile_.rows);
    if (s.softcap > 0) slopes_ = worker.add_array<C>(tile_.of_scores());
    if (s.dropout > 0) drawn_ = worker.add_array<C>(drawn_of(tile_));
  }

  /// Fills q and dy. After the block's rows all is zero, and so is what follows from it.
  void load_block(const KernelArgs& a, const RowBlock& block, std::int64_t sample, std::int64_t head) const {
    const Heads<const T> of_q = inputs_of<T>(s_, a).q;
    const Heads<const T> y = output_heads(s_, a.in<T>(kSlotOfY)), of_dy = output_heads(s_, a.in<T>(kSlotOfY + 2));
    const C* const lse = a.in<C>(kSlotOfY + 1) + s_.row_of(sample, head, block.row);
    const auto load_rows = [&](const Heads<const T>& of, C* to) {
      tile_.load_rows(of.at(sample, block.row, head), of.width, block.rows, tile_.rows, to);
    };
    load_rows(y, q.at<C>(a));  // until q takes its place
    load_rows(of_dy, dy.at<C>(a));
    products.turn(dy.at<C>(a), C(1), dy_columns_.at<Columns>(a));
    products.give_dots(a, q.at<C>(a), dy_columns_.at<Columns>(a), delta_.at<C>(a));
    load_rows(of_q, q.at<C>(a));
    products.turn(q.at<C>(a), static_cast<C>(s_.scale), q_columns_.at<Columns>(a));
    for (std::int64_t r = 0; r < tile_.rows; ++r) lse_.at<C>(a)[r] = r < block.rows ? lse[r] : C(0);
  }

  /// Fills k, p (with its factors m) and da, that of scores to which the mask is added, of the loaded block and `count`
  /// keys from `key` on.
  void make(const KernelArgs& a, const RowBlock& block, std::int64_t sample, std::int64_t head, std::int64_t key,
            std::int64_t count) const {
    const QueryKeyValue<const T> in = inputs_of<T>(s_, a);
    C *const shares = p.at<C>(a), *const gradients = da.at<C>(a);
    tile_.load_rows(in.k.at(sample, key, head / s_.group()), in.k.width, count, count, k.at<C>(a));
    tile_.load_rows(in.v.at(sample, key, head / s_.group()), in.v.width, count, count, v_.at<C>(a));
    products.give_scores(a, count, k.at<C>(a), q_columns_.at<Columns>(a), static_cast<C>(s_.scale), shares);
    if (s_.softcap > 0) cap_scores(tile_, count, static_cast<C>(s_.softcap), shares, slopes_.at<C>(a));
    block.add(ScoreMask<T>(s_.mask, a), tile_, sample, head, key, count, shares);
    block.hide(s_, tile_, key, count, shares);
    products.give_scores(a, count, v_.at<C>(a), dy_columns_.at<Columns>(a), C(1), gradients);
    const KeptShares kept(s_, a);
    const C* const m =
        kept.all() ? nullptr : draw(kept, tile_, s_.row_of(sample, head, block.row), key, count, drawn_.at<C>(a));
    if (m) multiply(tile_, count, m, gradients);
    weigh(a, count);
    if (m) multiply(tile_, count, m, shares);
  }

  /// Makes da that of scores before their cap.
  void uncap(const KernelArgs& a, std::int64_t count) const {
    if (s_.softcap > 0) multiply(tile_, count, slopes_.at<C>(a), da.at<C>(a));
  }

  Products products;
  WorkspacePart q, dy, k, p, da;

 private:
  /// p and da of scores and of m dy . v.
  void weigh(const KernelArgs& a, std::int64_t count) const {
    for (std::int64_t r = 0; r < tile_.rows; r += kWidth<C>) {
      const Vector<C> lse = load(lse_.at<C>(a) + r), delta = load(delta_.at<C>(a) + r);
      C *const p_at = p.at<C>(a) + r, *const da_at = da.at<C>(a) + r;
      for (std::int64_t at = 0; at < count * tile_.rows; at += tile_.rows) {
        const Vector<C> share = share_of(load(p_at + at) - lse);
        store(share, p_at + at);
        store(share * (load(da_at + at) - delta), da_at + at);
      }
    }
  }

  AttentionShape s_;
  Tile tile_;
  WorkspacePart q_columns_, dy_columns_, v_, lse_, delta_, slopes_, drawn_;
};

}  // namespace lethe::attention
