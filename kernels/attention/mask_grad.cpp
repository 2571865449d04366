// The gradient of the mask on a CPU: da of scores (shape.h), summed over what the mask is the same for. A task is a
// tile of the mask, by rows and keys, and goes through its samples, heads and rows in their order: the sums are the
// same for any number of threads.
#include <numeric>

#include "kernels/attention/attention.h"
#include "kernels/attention/grad_tiles.h"
#include "kernels/attention/products.h"
#include "kernels/cpu/parallel.h"
#include "kernels/dtypes.h"

namespace lethe {
namespace {

using namespace attention;

template <class T>
class MaskBackward final : public Kernel {
  using C = Compute<T>;

 public:
  MaskBackward(const AttentionShape& s, bool wide, int threads)
      : s_(s),
        tile_(s),
        blocks_((s.rows + tile_.rows - 1) / tile_.rows),
        key_tiles_((s.keys + tile_.keys - 1) / tile_.keys),
        tasks_(s.mask.samples * s.mask.heads * (s.mask.rows == 1 ? 1 : blocks_) * key_tiles_),
        workers_(std::min<std::int64_t>(threads, tasks_)),
        tiles_(s, worker_),
        sums_(worker_.add_array<C>(tile_.of_scores())),
        wide_(wide) {}

  std::int64_t workspace_bytes() const override { return workers_ * aligned(worker_.bytes()); }

  void run(const KernelArgs& args) const override {
    parallel_tasks(tasks_, static_cast<int>(workers_), [&](std::int64_t task, int worker) {
      KernelArgs own = args;
      own.workspace = static_cast<char*>(args.workspace) + worker * aligned(worker_.bytes());
      work(own, task);
    });
  }

 private:
  void work(const KernelArgs& a, std::int64_t task) const {
    const MaskShape& m = s_.mask;
    const std::int64_t key = task % key_tiles_ * tile_.keys, count = std::min(tile_.keys, s_.keys - key);
    const std::int64_t of_rows = m.rows == 1 ? 1 : blocks_, block = task / key_tiles_ % of_rows;
    const std::int64_t place = task / key_tiles_ / of_rows;  // of sample and head
    const Positions samples = of_place(place / m.heads, m.samples, s_.batch),
                    heads = of_place(place % m.heads, m.heads, s_.heads), blocks = of_place(block, m.rows, blocks_);
    std::fill_n(sums_.at<C>(a), count * tile_.rows, C(0));
    for (std::int64_t sample = samples.first; sample < samples.last; ++sample)
      for (std::int64_t head = heads.first; head < heads.last; ++head)
        for (std::int64_t i = blocks.first; i < blocks.last; ++i)
          add({key, key + count}, a, RowBlock(s_, i * tile_.rows, tile_.rows, s_.keys_in(limits_of(s_, a), sample)),
              sample, head);
    write(a, place * m.rows, m.rows == 1 ? 0 : block * tile_.rows, {key, key + count});
  }

  /// Adds da of a block of rows and those of a tile's keys that any of them sees.
  void add(const Positions& tile, const KernelArgs& a, const RowBlock& block, std::int64_t sample,
           std::int64_t head) const {
    const std::int64_t first = std::max(tile.first, block.keys.first), last = std::min(tile.last, block.keys.last);
    if (first >= last) return;
    tiles_.load_block(a, block, sample, head);
    tiles_.make(a, block, sample, head, first, last - first);
    C* const sums = sums_.at<C>(a) + (first - tile.first) * tile_.rows;
    const C* const da = tiles_.da.template at<C>(a);
    for (std::int64_t i = 0; i < (last - first) * tile_.rows; ++i) sums[i] += da[i];
  }

  void write(const KernelArgs& a, std::int64_t before, std::int64_t row, const Positions& keys) const {
    const MaskGradient<T> to{a.out<void>(0), wide_};
    const C* sums = sums_.at<C>(a);
    const std::int64_t rows = std::min(tile_.rows, s_.mask.rows - row);
    for (std::int64_t key = keys.first; key < keys.last; ++key, sums += tile_.rows)
      for (std::int64_t r = 0; r < rows; ++r) {
        const C sum = s_.mask.rows == 1 ? std::accumulate(sums, sums + tile_.rows, C(0)) : sums[r];
        to.put((before + row + r) * s_.keys + key, sum);
      }
  }

  AttentionShape s_;
  Tile tile_;
  std::int64_t blocks_, key_tiles_, tasks_, workers_;
  WorkspaceLayout worker_;
  GradTiles<T, PlainProducts<C>> tiles_;
  WorkspacePart sums_;
  bool wide_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_mask_grad_cpu(const AttentionShape& shape, DType dtype, bool wide, int threads) {
  return for_float(dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    return std::make_unique<MaskBackward<decltype(zero)>>(shape, wide, threads);
  });
}

}  // namespace lethe
