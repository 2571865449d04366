// Elements of many tensors in one launch: small ones are done sooner than a launch each would take.
#pragma once
#include <cstring>
#include <type_traits>

#include "kernels/each_device.h"

namespace lethe {

/// Functors over indices, one after the other, as one. What a kernel is launched with is at most 4 KiB.
template <class F>
struct Group {
  static_assert(std::is_trivially_copyable_v<F>);
  static constexpr int kMost = static_cast<int>((4096 - 64) / (sizeof(F) + sizeof(std::int64_t)));
  std::int64_t ends[kMost];  // where the indices of each end
  alignas(F) unsigned char functors[kMost * sizeof(F)];
  int count = 0;

  void add(std::int64_t n, const F& f) {
    std::memcpy(functors + static_cast<std::size_t>(count) * sizeof(F), &f, sizeof(F));
    ends[count] = size() + n;
    ++count;
  }
  std::int64_t size() const { return count > 0 ? ends[count - 1] : 0; }

  HD void operator()(std::int64_t i) const {
    int low = 0, high = count - 1;  // the first that ends after i
    while (low < high) {
      const int middle = (low + high) / 2;
      if (i < ends[middle])
        high = middle;
      else
        low = middle + 1;
    }
    reinterpret_cast<const F*>(functors)[low](low > 0 ? i - ends[low - 1] : i);
  }
};

#ifdef LETHE_DEVICE_CODE
/// The functors stay where launches put them: indexing a copy would take each thread local memory for all.
template <class F>
__global__ void for_each_group_index(const __grid_constant__ Group<F> group) {
  const std::int64_t n = group.ends[group.count - 1], stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) group(i);
}

/// Collects functors and launches them, as many at a time as go into one launch.
template <class F>
class GroupedLaunches {
 public:
  explicit GroupedLaunches(void* stream) : stream_(stream) {}
  void add(std::int64_t n, const F& f) {
    if (n == 0) return;
    if (group_.count == Group<F>::kMost) flush();
    group_.add(n, f);
  }
  void flush() {
    if (group_.count == 0) return;
    LETHE_LAUNCH(for_each_group_index<F>, element_blocks(group_.size()), dim3(kElementThreads), 0,
                 static_cast<cudaStream_t>(stream_), group_);
    group_.count = 0;
  }

 private:
  void* stream_;
  Group<F> group_;
};
#endif

}  // namespace lethe
