#include "kernels/ranks/cuda_launches.h"

#include "kernels/dtypes.h"
#include "kernels/each_device.h"

namespace lethe {
namespace {

constexpr int kMostLevels = 24;  // of the tree: ranks are fewer than 2 to this power

/// Ranks come one after the other. Bit l of how many have come says that open[l] is the sum of 2 to the power of l
/// ranks, which waits for as many more; what is left at the end is added from the last to the first.
template <class T>
struct FoldRanks {
  T* own;
  const T* others;
  std::int64_t distance, number, of;

  HD T value(std::int64_t rank, std::int64_t i) const {
    return rank == number ? own[i] : others[(rank < number ? rank : rank - 1) * distance + i];
  }
  HD void operator()(std::int64_t i) const {
    T open[kMostLevels];
    for (std::int64_t rank = 0; rank < of; ++rank) {
      T sum = value(rank, i);
      int level = 0;
      for (; (rank >> level & 1) != 0; ++level) sum = open[level] + sum;
      open[level] = sum;
    }
    int level = 0;
    while ((of >> level & 1) == 0) ++level;
    T sum = open[level];
    while (of >> ++level != 0)
      if ((of >> level & 1) != 0) sum = open[level] + sum;
    own[i] = sum;
  }
};

}  // namespace

void launch_fold(void* stream, const Partials& p) {
  for_wide(p.dtype, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(
        Cuda{}, stream, p.count,
        FoldRanks<T>{static_cast<T*>(p.own), static_cast<const T*>(p.others), p.distance, p.rank.number, p.rank.of});
  });
}

}  // namespace lethe
