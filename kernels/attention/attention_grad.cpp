// The gradient: for each block of rows of each head its tiles once more, of which dq of the rows is written when all
// keys are through, while dk and dv are summed over heads and blocks in their order. A task is one head of keys and
// values; where these are fewer than workers it is every n-th block of one, and the sums of its n tasks are added in
// their order.
#include "kernels/attention/attention.h"
#include "kernels/attention/grad_tiles.h"
#include "kernels/attention/products.h"
#include "kernels/attention/tile_products.h"
#include "kernels/cpu/parallel.h"
#include "kernels/dtypes.h"
#include "kernels/tiles/dots.h"

namespace lethe {
namespace {

using namespace attention;

template <class T, class Products>
class AttentionBackward final : public Kernel {
  using C = Compute<T>;

 public:
  AttentionBackward(const AttentionShape& s, int threads)
      : s_(s),
        tile_(s),
        blocks_((s.rows + tile_.rows - 1) / tile_.rows),
        heads_(s.batch * s.kv_heads),
        tiles_(s, worker_),
        dq_(worker_.add_array<C>(tile_.of_rows())) {
    pieces_ = std::min(s.group() * blocks_, (threads + heads_ - 1) / heads_);
    workers_ = std::min<std::int64_t>(threads, heads_ * pieces_);
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
    const RowBlock block(s_, row, tile_.rows, s_.keys_in(limits_of(s_, a), sample));
    const C *const da = tiles_.da.template at<C>(a), *const p = tiles_.p.template at<C>(a);
    tiles_.load_block(a, block, sample, head);
    std::fill_n(dq_.at<C>(a), tile_.of_rows(), C(0));
    for (std::int64_t key = block.keys.first; key < block.keys.last; key += tile_.keys) {
      const std::int64_t count = std::min(tile_.keys, block.keys.last - key);
      tiles_.make(a, block, sample, head, key, count);
      tiles_.uncap(a, count);
      C* const dk = sums + key * tile_.padded;
      tiles_.products.add_by_keys(a, count, da, tiles_.q.template at<C>(a), dk);
      tiles_.products.add_by_keys(a, count, p, tiles_.dy.template at<C>(a), dk + s_.keys * tile_.padded);
      tiles_.products.add_by_rows(a, count, da, tiles_.k.template at<C>(a), dq_.at<C>(a));
    }
    const Heads<T> dq = gradients_of<T>(s_, a).q;
    for (std::int64_t r = 0; r < block.rows; ++r)
      tile_.store_row(dq_.at<C>(a) + r * tile_.padded, static_cast<C>(s_.scale), dq.at(sample, row + r, head));
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
  GradTiles<T, Products> tiles_;
  WorkspacePart dq_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_attention_grad_cpu(const AttentionShape& shape, DType dtype, int threads) {
  if (dtype == DType::bf16 && tiles::are_fast()) return prepare_attention_grad_on_tiles(shape, threads);
  return for_float(dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    return std::make_unique<AttentionBackward<T, PlainProducts<Compute<T>>>>(shape, threads);
  });
}

std::unique_ptr<Kernel> prepare_attention_grad_on_tiles(const AttentionShape& shape, int threads) {
  return tiles::for_tiles([&](auto of) -> std::unique_ptr<Kernel> {
    return std::make_unique<AttentionBackward<Bf16, TileProducts<typename decltype(of)::type>>>(shape, threads);
  });
}

}  // namespace lethe
