// The gradient: for each block of rows of each head its tiles once more, of which dq of the rows is written when all
// keys are through, while dk and dv are summed over heads and blocks in their order. A task is one head of keys and
// values; where these are fewer than workers it is every n-th block of one, and the sums of its n tasks are added in
// their order.
#include "kernels/attention/attention.h"
#include "kernels/attention/kept_tile.h"
#include "kernels/attention/products.h"
#include "kernels/attention/tile_products.h"
#include "kernels/cpu/bf16_units.h"
#include "kernels/cpu/parallel.h"
#include "kernels/dtypes.h"

namespace lethe {
namespace {

using namespace attention;

template <class T, class Products>
class AttentionBackward final : public Kernel {
  using C = Compute<T>;
  using Columns = typename Products::Columns;

 public:
  AttentionBackward(const AttentionShape& s, int threads)
      : s_(s),
        tile_(s),
        blocks_((s.rows + tile_.rows - 1) / tile_.rows),
        heads_(s.batch * s.kv_heads),
        products_(tile_, worker_) {
    pieces_ = std::min(s.group() * blocks_, (threads + heads_ - 1) / heads_);
    workers_ = std::min<std::int64_t>(threads, heads_ * pieces_);
    for (WorkspacePart* part : {&q_columns_, &dy_columns_})
      *part = worker_.add_array<Columns>(products_.columns_size());
    for (WorkspacePart* part : {&q_, &dy_, &dq_}) *part = worker_.add_array<C>(tile_.of_rows());
    for (WorkspacePart* part : {&k_, &v_}) *part = worker_.add_array<C>(tile_.of_keys());
    for (WorkspacePart* part : {&p_, &da_}) *part = worker_.add_array<C>(tile_.of_scores());
    for (WorkspacePart* part : {&lse_, &delta_}) *part = worker_.add_array<C>(tile_.rows);
    if (s.dropout > 0) drawn_ = worker_.add_array<C>(drawn_of(tile_));
  }

  std::int64_t workspace_bytes() const override {
    return workers_ * aligned(worker_.bytes()) + (pieces_ > 1 ? heads_ * pieces_ : workers_) * sum_bytes();
  }

  void run(const KernelArgs& args) const override {
    const int workers = static_cast<int>(workers_);
    parallel_tasks(heads_ * pieces_, workers, [&](std::int64_t task, int worker) {
      KernelArgs own = args;
      own.workspace = static_cast<char*>(args.workspace) + worker * aligned(worker_.bytes());
      const std::int64_t head = task / pieces_;
      C* const sums = sums_at(args, pieces_ > 1 ? task : worker);
      std::fill_n(sums, 2 * s_.keys * tile_.padded, C(0));
      for (std::int64_t block = task % pieces_; block < s_.group() * blocks_; block += pieces_)
        add_block(own, head / s_.kv_heads, head % s_.kv_heads * s_.group() + block / blocks_,
                  block % blocks_ * tile_.rows, sums);
      if (pieces_ == 1) write(args, head, sums);
    });
    if (pieces_ > 1) parallel_tasks(heads_, workers, [&](std::int64_t head, int) { join(args, head); });
  }

 private:
  /// dk and dv of a head, [2, keys, padded].
  std::int64_t sum_bytes() const { return aligned(2 * s_.keys * tile_.padded * std::int64_t{sizeof(C)}); }
  C* sums_at(const KernelArgs& args, std::int64_t slot) const {
    return reinterpret_cast<C*>(static_cast<char*>(args.workspace) + workers_ * aligned(worker_.bytes()) +
                                slot * sum_bytes());
  }

  void add_block(const KernelArgs& a, std::int64_t sample, std::int64_t head, std::int64_t row, C* sums) const {
    const QueryKeyValue<const T> in = inputs_of<T>(s_, a);
    const RowBlock block(s_, row, tile_.rows, s_.keys_in(limits_of(s_, a), sample));
    C *const k = k_.at<C>(a), *const v = v_.at<C>(a), *const p = p_.at<C>(a), *const da = da_.at<C>(a);
    load_block(a, block, sample, head);
    for (std::int64_t key = block.keys.first; key < block.keys.last; key += tile_.keys) {
      const std::int64_t count = std::min(tile_.keys, block.keys.last - key);
      tile_.load_rows(in.k.at(sample, key, head / s_.group()), in.k.width, count, count, k);
      tile_.load_rows(in.v.at(sample, key, head / s_.group()), in.v.width, count, count, v);
      products_.give_scores(a, count, k, q_columns_.at<Columns>(a), static_cast<C>(s_.scale), p);
      block.hide(s_, tile_, key, count, p);
      products_.give_scores(a, count, v, dy_columns_.at<Columns>(a), C(1), da);
      const KeptShares kept(s_, a);
      const C* const m =
          kept.all() ? nullptr : draw(kept, tile_, s_.row_of(sample, head, row), key, count, drawn_.at<C>(a));
      if (m) multiply(tile_, count, m, da);
      weigh(a, count);
      if (m) multiply(tile_, count, m, p);
      C* const dk = sums + key * tile_.padded;
      products_.add_by_keys(a, count, da, q_.at<C>(a), dk);
      products_.add_by_keys(a, count, p, dy_.at<C>(a), dk + s_.keys * tile_.padded);
      products_.add_by_rows(a, count, da, k, dq_.at<C>(a));
    }
    const Heads<T> dq = gradients_of<T>(s_, a).q;
    for (std::int64_t r = 0; r < block.rows; ++r)
      tile_.store_row(dq_.at<C>(a) + r * tile_.padded, static_cast<C>(s_.scale), dq.at(sample, row + r, head));
  }

  /// What a block of rows has, whatever the keys. Behind its rows all is zero, and so is what follows from it.
  void load_block(const KernelArgs& a, const RowBlock& block, std::int64_t sample, std::int64_t head) const {
    const Heads<const T> q = inputs_of<T>(s_, a).q;
    const Heads<const T> y = output_heads(s_, a.in<T>(6)), dy = output_heads(s_, a.in<T>(8));
    const C* const lse = a.in<C>(7) + s_.row_of(sample, head, block.row);
    const auto load_rows = [&](const Heads<const T>& of, C* to) {
      tile_.load_rows(of.at(sample, block.row, head), of.width, block.rows, tile_.rows, to);
    };
    load_rows(y, q_.at<C>(a));  // until q takes its place
    load_rows(dy, dy_.at<C>(a));
    products_.turn(dy_.at<C>(a), C(1), dy_columns_.at<Columns>(a));
    products_.give_dots(a, q_.at<C>(a), dy_columns_.at<Columns>(a), delta_.at<C>(a));
    load_rows(q, q_.at<C>(a));
    products_.turn(q_.at<C>(a), static_cast<C>(s_.scale), q_columns_.at<Columns>(a));
    std::fill_n(dq_.at<C>(a), tile_.of_rows(), C(0));
    for (std::int64_t r = 0; r < tile_.rows; ++r) lse_.at<C>(a)[r] = r < block.rows ? lse[r] : C(0);
  }

  /// p and da of scores and of m dy . v.
  void weigh(const KernelArgs& a, std::int64_t count) const {
    for (std::int64_t r = 0; r < tile_.rows; r += kWidth<C>) {
      const Vector<C> lse = load(lse_.at<C>(a) + r), delta = load(delta_.at<C>(a) + r);
      C *const p_at = p_.at<C>(a) + r, *const da_at = da_.at<C>(a) + r;
      for (std::int64_t at = 0; at < count * tile_.rows; at += tile_.rows) {
        const Vector<C> p = share_of(load(p_at + at) - lse);
        store(p, p_at + at);
        store(p * (load(da_at + at) - delta), da_at + at);
      }
    }
  }

  void write(const KernelArgs& a, std::int64_t head, const C* sums) const {
    const QueryKeyValue<T> to = gradients_of<T>(s_, a);
    for (std::int64_t key = 0; key < s_.keys; ++key, sums += tile_.padded) {
      tile_.store_row(sums, static_cast<C>(s_.scale), to.k.at(head / s_.kv_heads, key, head % s_.kv_heads));
      tile_.store_row(sums + s_.keys * tile_.padded, C(1), to.v.at(head / s_.kv_heads, key, head % s_.kv_heads));
    }
  }

  void join(const KernelArgs& a, std::int64_t head) const {
    C* const sums = sums_at(a, head * pieces_);
    for (std::int64_t piece = 1; piece < pieces_; ++piece) {
      const C* const other = sums_at(a, head * pieces_ + piece);
      for (std::int64_t i = 0; i < 2 * s_.keys * tile_.padded; ++i) sums[i] += other[i];
    }
    write(a, head, sums);
  }

  AttentionShape s_;
  Tile tile_;
  std::int64_t blocks_, heads_, pieces_ = 1, workers_ = 1;
  WorkspaceLayout worker_;
  Products products_;
  WorkspacePart q_columns_, dy_columns_, q_, dy_, dq_, k_, v_, p_, da_, lse_, delta_, drawn_;  // of a worker
};

}  // namespace

std::unique_ptr<Kernel> prepare_attention_grad_cpu(const AttentionShape& shape, DType dtype, int threads) {
  if (dtype == DType::bf16 && has_amx()) return prepare_attention_grad_on_tiles(shape, threads);
  return for_float(dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    return std::make_unique<AttentionBackward<T, PlainProducts<Compute<T>>>>(shape, threads);
  });
}

std::unique_ptr<Kernel> prepare_attention_grad_on_tiles(const AttentionShape& shape, int threads) {
  if (has_amx()) return std::make_unique<AttentionBackward<Bf16, TileProducts<tiles::AmxTiles>>>(shape, threads);
  return std::make_unique<AttentionBackward<Bf16, TileProducts<tiles::PlainTiles>>>(shape, threads);
}

}  // namespace lethe
