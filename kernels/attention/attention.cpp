// The forward part: a task is a block of rows of one head, which goes through the keys that they see tile by tile with
// a running softmax: of each row the largest score so far, the sum of its powers, and y times that sum.
#include "kernels/attention/attention.h"

#include "kernels/attention/kept_tile.h"
#include "kernels/attention/products.h"
#include "kernels/attention/softcap.h"
#include "kernels/attention/tile_products.h"
#include "kernels/cpu/parallel.h"
#include "kernels/dtypes.h"
#include "kernels/tiles/dots.h"

namespace lethe {
namespace {

using namespace attention;

template <class T, class Products>
class AttentionForward final : public Kernel {
  using C = Compute<T>;
  using Columns = typename Products::Columns;

 public:
  AttentionForward(const AttentionShape& s, int threads)
      : s_(s),
        tile_(s),
        blocks_((s.rows + tile_.rows - 1) / tile_.rows),
        tasks_(s.batch * s.heads * blocks_),
        products_(tile_, worker_) {
    workers_ = std::min<std::int64_t>(threads, tasks_);
    columns_ = worker_.add_array<Columns>(products_.columns_size());
    keys_ = worker_.add_array<C>(std::max(tile_.of_keys(), tile_.of_rows()));
    scores_ = worker_.add_array<C>(tile_.of_scores());
    sums_ = worker_.add_array<C>(tile_.of_rows());
    for (WorkspacePart* part : {&most_, &total_, &fade_}) *part = worker_.add_array<C>(tile_.rows);
    if (s.dropout > 0) drawn_ = worker_.add_array<C>(drawn_of(tile_));
  }

  std::int64_t workspace_bytes() const override { return workers_ * aligned(worker_.bytes()); }

  void run(const KernelArgs& args) const override {
    parallel_tasks(tasks_, static_cast<int>(workers_), [&](std::int64_t task, int worker) {
      KernelArgs own = args;
      own.workspace = static_cast<char*>(args.workspace) + worker * aligned(worker_.bytes());
      const std::int64_t head = task / blocks_, block = blocks_ - 1 - task % blocks_;  // the longest first, if causal
      work(own, head / s_.heads, head % s_.heads, block * tile_.rows);
    });
  }

 private:
  void work(const KernelArgs& a, std::int64_t sample, std::int64_t head, std::int64_t row) const {
    const QueryKeyValue<const T> in = inputs_of<T>(s_, a);
    const RowBlock block(s_, row, tile_.rows, s_.keys_in(limits_of(s_, a), sample));
    Columns* const columns = columns_.at<Columns>(a);
    C *const keys = keys_.at<C>(a), *const scores = scores_.at<C>(a);
    C* const sums = sums_.at<C>(a);
    tile_.load_rows(in.q.at(sample, row, head), in.q.width, block.rows, tile_.rows, keys);
    const auto scale = static_cast<C>(s_.scale);
    products_.turn(keys, scale, columns);
    std::fill_n(sums, tile_.of_rows(), C(0));
    std::fill_n(most_.at<C>(a), tile_.rows, std::numeric_limits<C>::lowest());
    std::fill_n(total_.at<C>(a), tile_.rows, C(0));
    for (std::int64_t key = block.keys.first; key < block.keys.last; key += tile_.keys) {
      const std::int64_t count = std::min(tile_.keys, block.keys.last - key);
      tile_.load_rows(in.k.at(sample, key, head / s_.group()), in.k.width, count, count, keys);
      products_.give_scores(a, count, keys, columns, scale, scores);
      if (s_.softcap > 0) cap_scores(tile_, count, static_cast<C>(s_.softcap), scores);
      block.add(ScoreMask<T>(s_.mask, a), tile_, sample, head, key, count, scores);
      block.hide(s_, tile_, key, count, scores);
      soften(a, count);
      if (const KeptShares kept(s_, a); !kept.all())
        multiply(tile_, count, draw(kept, tile_, s_.row_of(sample, head, row), key, count, drawn_.at<C>(a)), scores);
      tile_.load_rows(in.v.at(sample, key, head / s_.group()), in.v.width, count, count, keys);
      products_.add_by_rows(a, count, scores, keys, sums);
    }
    write(a, block, sample, head);
  }

  /// Makes of scores their powers, relative to the largest so far, to which earlier sums fade.
  void soften(const KernelArgs& a, std::int64_t count) const {
    C *const sums = sums_.at<C>(a), *const fade = fade_.at<C>(a);
    for (std::int64_t r = 0; r < tile_.rows; r += kWidth<C>) {
      C *const most_at = most_.at<C>(a) + r, *const total_at = total_.at<C>(a) + r, *const at = scores_.at<C>(a) + r;
      const Vector<C> before = load(most_at);
      Vector<C> most = before, total = {};
      for (std::int64_t j = 0; j < count; ++j) most = larger(load(at + j * tile_.rows), most);
      for (std::int64_t j = 0; j < count; ++j) {
        const Vector<C> power = share_of(load(at + j * tile_.rows) - most);
        store(power, at + j * tile_.rows);
        total += power;
      }
      const Vector<C> fades = share_of(before - most);
      store(fades, fade + r);
      store(load(total_at) * fades + total, total_at);
      store(most, most_at);
    }
    for (std::int64_t r = 0; r < tile_.rows; ++r)
      for (std::int64_t d = 0; d < tile_.padded; ++d) sums[r * tile_.padded + d] *= fade[r];
  }

  void write(const KernelArgs& a, const RowBlock& block, std::int64_t sample, std::int64_t head) const {
    const Heads<T> y = output_heads(s_, a.out<T>(0));
    C* const lse = a.out<C>(1) + s_.row_of(sample, head, block.row);
    const C *const most = most_.at<C>(a), *const total = total_.at<C>(a);
    for (std::int64_t r = 0; r < block.rows; ++r) {
      const bool any = total[r] != 0;
      tile_.store_row(sums_.at<C>(a) + r * tile_.padded, any ? 1 / total[r] : C(0), y.at(sample, block.row + r, head));
      lse[r] = any ? most[r] + std::log(total[r]) : C(0);
    }
  }

  AttentionShape s_;
  Tile tile_;
  std::int64_t blocks_, tasks_, workers_ = 0;
  WorkspaceLayout worker_;
  Products products_;
  WorkspacePart columns_, keys_, scores_, sums_, most_, total_, fade_, drawn_;  // of a worker; keys_ also of values
};

}  // namespace

std::unique_ptr<Kernel> prepare_attention_cpu(const AttentionShape& shape, DType dtype, int threads) {
  if (dtype == DType::bf16 && tiles::are_fast()) return prepare_attention_on_tiles(shape, threads);
  return for_float(dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    return std::make_unique<AttentionForward<T, PlainProducts<Compute<T>>>>(shape, threads);
  });
}

std::unique_ptr<Kernel> prepare_attention_on_tiles(const AttentionShape& shape, int threads) {
  return tiles::for_tiles([&](auto of) -> std::unique_ptr<Kernel> {
    return std::make_unique<AttentionForward<Bf16, TileProducts<typename decltype(of)::type>>>(shape, threads);
  });
}

}  // namespace lethe
