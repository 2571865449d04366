// What the CUDA runtime knows of the calling thread's GPU, the one that calls mean when they name none.
#pragma once
#include <new>

namespace lethe {

int current_gpu();  // fails if the runtime does not know
/// Whether what goes to a stream is recorded and not run.
bool is_recorded(void* stream);
/// Of a library's call that failed and is made up for: the next launch of a kernel would report it.
void forget_error();

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
