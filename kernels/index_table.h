// Whole numbers that a kernel was prepared with, where its device reads them: on the CPU as they are. To a GPU launches
// bring them, with their parameters, into the workspace: no copy from the host, so that a step stays one recording.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/each_device.h"
#include "kernels/workspace.h"

namespace lethe {

#ifdef LETHE_DEVICE_CODE
/// What one launch brings: with it, parameters stay within the 4096 bytes that a kernel may have.
struct BroughtNumbers {
  static constexpr std::int64_t kMost = 960;
  std::int32_t* to;
  std::int32_t numbers[kMost] = {};
  HD void operator()(std::int64_t i) const { to[i] = numbers[i]; }
};
#endif

template <class Device>
class IndexTable {
 public:
  IndexTable(std::vector<std::int32_t> numbers, WorkspaceLayout& layout) : numbers_(std::move(numbers)) {
    if constexpr (!std::is_same_v<Device, Cpu>)
      place_ = layout.add_array<std::int32_t>(static_cast<std::int64_t>(numbers_.size()));
  }
  const std::int32_t* bring([[maybe_unused]] const KernelArgs& args) const {
#ifdef LETHE_DEVICE_CODE
    if constexpr (!std::is_same_v<Device, Cpu>) {
      auto* const to = place_.template at<std::int32_t>(args);
      const auto size = static_cast<std::int64_t>(numbers_.size());
      for (std::int64_t first = 0; first < size; first += BroughtNumbers::kMost) {
        const std::int64_t count = std::min(BroughtNumbers::kMost, size - first);
        BroughtNumbers some{to + first};
        std::copy_n(numbers_.begin() + first, count, some.numbers);
        parallel_for(Device{}, args.stream, count, some);
      }
      return to;
    }
#endif
    return numbers_.data();
  }

 private:
  std::vector<std::int32_t> numbers_;
  WorkspacePart place_;
};

}  // namespace lethe
