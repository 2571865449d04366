// Which of many ids are rows of a range: a GPU's block finds them a tile at a time, in their order.
#pragma once
#include <cstdint>

#include "kernels/device_code.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

class RowFinder {
 public:
  static constexpr int kThreads = 256, kIds = 4, kTile = kThreads * kIds;  // a thread reads kIds
  struct Found {
    std::int32_t row;            // counted from the block's first
    std::uint16_t place, group;  // in the tile; of the threads that add it
  };

  /// Gives how many there are of the rows [first, last) in ids[0, n), in their order. Called by all threads.
  static __device__ int find(const std::int32_t* ids, std::int64_t n, std::int64_t first, std::int64_t last, int groups,
                             Found (&found)[kTile]) {
    __shared__ int of_warp[kIds * kWarps];
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
    std::int64_t row[kIds];
    unsigned votes[kIds];
    int at[kIds], count = 0;
    for (int k = 0; k < kIds; ++k) row[k] = k * kThreads + thread < n ? ids[k * kThreads + thread] - first : -1;
    for (int k = 0; k < kIds; ++k) {
      votes[k] = __ballot_sync(0xffffffffu, row[k] >= 0 && row[k] < last - first);
      if (lane == 0) of_warp[k * kWarps + warp] = __popc(votes[k]);
    }
    __syncthreads();
    for (int k = 0; k < kIds; ++k)
      for (int w = 0; w < kWarps; count += of_warp[k * kWarps + w++])
        if (w == warp) at[k] = count;
    for (int k = 0; k < kIds; ++k)
      if ((votes[k] >> lane & 1) != 0)
        found[at[k] + __popc(votes[k] & ((1U << lane) - 1))] = {
            static_cast<std::int32_t>(row[k]), static_cast<std::uint16_t>(k * kThreads + thread),
            static_cast<std::uint16_t>(static_cast<std::int32_t>(row[k]) % groups)};
    __syncthreads();
    return count;
  }

 private:
  static constexpr int kWarps = kThreads / 32;
};

}  // namespace lethe
#endif
