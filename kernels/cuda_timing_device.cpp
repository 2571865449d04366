// The timing device of a GPU.
#include <cuda_runtime_api.h>

#include <limits>
#include <new>

#include "framework/error.h"
#include "kernels/cuda/current_gpu.h"
#include "kernels/cuda/libraries.h"
#include "kernels/timing_device.h"

namespace lethe {
namespace {

void require(cudaError_t status, const char* what) {
  check_as(Exit::Device, status == cudaSuccess, "cuda: ", what, " failed: ", cudaGetErrorString(status));
}

/// A place in a stream whose time is taken.
class TimedEvent {
 public:
  TimedEvent() { require(cudaEventCreateWithFlags(&event_, cudaEventDefault), "an event"); }
  ~TimedEvent() { cudaEventDestroy(event_); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class GpuTimingDevice final : public TimingDevice {
 public:
  explicit GpuTimingDevice(const DeviceInfo& device)
      : libraries_(libraries_of(device)),
        here_(libraries_->gpu()),
        stream_(static_cast<cudaStream_t>(libraries_->stream())) {}

  std::shared_ptr<void> memory(std::int64_t bytes) override {
    if (bytes == 0) return nullptr;
    void* taken = nullptr;
    const cudaError_t status = cudaMalloc(&taken, static_cast<std::size_t>(bytes));
    if (status == cudaErrorMemoryAllocation) {
      forget_error();
      throw std::bad_alloc();
    }
    require(status, "memory to try algorithms in");
    const std::shared_ptr<void> owned(taken, cudaFree);
    require(cudaMemsetAsync(taken, kByte, static_cast<std::size_t>(bytes), stream_), "filling memory");
    return owned;
  }

  /// Of runs after a first one, one after the other. Where they take less than the host needs to describe them, all
  /// ways take alike, and the first stays.
  double seconds(const Kernel& kernel, const KernelArgs& args) override {
    try {
      KernelArgs on_stream = args;
      on_stream.stream = stream_;
      kernel.run(on_stream);
      require(cudaEventRecord(begin_.get(), stream_), "an event");
      for (int i = 0; i < kRuns; ++i) kernel.run(on_stream);
      require(cudaEventRecord(end_.get(), stream_), "an event");
      require(cudaStreamSynchronize(stream_), "what was tried");
    } catch (const Error&) {
      forget_error();
      return std::numeric_limits<double>::infinity();
    }
    float ms = 0;
    require(cudaEventElapsedTime(&ms, begin_.get(), end_.get()), "taking the time");
    return static_cast<double>(ms) / (1000 * kRuns);
  }

 private:
  static constexpr int kRuns = 8;
  std::shared_ptr<GpuLibraries> libraries_;
  CurrentGpu here_;
  cudaStream_t stream_;
  TimedEvent begin_, end_;
};

}  // namespace

std::unique_ptr<TimingDevice> timing_gpu(const DeviceInfo& device) { return std::make_unique<GpuTimingDevice>(device); }

}  // namespace lethe
