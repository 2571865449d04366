// The GPU that calls of the CUDA runtime mean when they name none: each host thread has one.
#pragma once

namespace lethe {

int current_gpu();

/// While one lives, that of the calling thread is `index`; then it is what it was.
class CurrentGpu {
 public:
  explicit CurrentGpu(int index);
  ~CurrentGpu();
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;

 private:
  int before_, index_;
};

}  // namespace lethe
