// The GPU that calls of the CUDA runtime mean when they name none: each host thread has one.
#pragma once
#include <new>

namespace lethe {

int current_gpu();  // fails if the runtime does not know

/// While one lives, that of the calling thread is `index`; then it is what it was.
class CurrentGpu {
 public:
  explicit CurrentGpu(int index);                  // fails if it cannot be turned to
  CurrentGpu(int index, std::nothrow_t) noexcept;  // for destructors: turns to it if that can be done
  ~CurrentGpu();
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;

 private:
  int before_, index_;
};

}  // namespace lethe
