#include "kernels/gpu_device.h"

#include "framework/error.h"

#ifdef LETHE_HAS_CUDA
#include <cuda_runtime_api.h>

#include "kernels/cudnn_graph.h"
#endif

namespace lethe {
#ifdef LETHE_HAS_CUDA
namespace {

std::string version_text(int version) { return message(version / 1000, '.', version % 1000 / 10); }

/// Fails unless the machine has a driver that serves us, and this GPU.
void check_gpu(int index) {
  const std::string name = message("cuda:", index);
  int driver = 0, count = 0;
  cudaDriverGetVersion(&driver);
  check_as(Exit::Device, driver > 0, name, ": this machine has no NVIDIA driver");
  const cudaError_t status = cudaGetDeviceCount(&count);
  check_as(Exit::Device, status != cudaErrorInsufficientDriver, name, ": the driver serves CUDA ", version_text(driver),
           ", this program needs ", version_text(CUDART_VERSION));
  check_as(Exit::Device, status == cudaSuccess && count > 0, name, ": this machine has no GPU (",
           cudaGetErrorString(status == cudaSuccess ? cudaErrorNoDevice : status), ')');
  check_as(Exit::Device, index < count, name, ": this machine has ", count, count == 1 ? " GPU, cuda:0" : " GPUs");
}

class GpuDevice final : public Device {
 public:
  GpuDevice(int index, DeviceInfo info) : info_(std::move(info)) {
    check_gpu(index);
    done(cudaSetDevice(index), "opening it");
    done(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
    std::size_t free = 0, total = 0;
    done(cudaMemGetInfo(&free, &total), "its memory");
    info_.memory = static_cast<std::int64_t>(free);
  }
  ~GpuDevice() override { cudaStreamDestroy(stream_); }
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;

  const DeviceInfo& info() const override { return info_; }

  void* allocate(std::int64_t bytes) override {
    if (bytes == 0) return nullptr;
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
    check_as(Exit::Device, status == cudaSuccess, info_.name, ": no memory for ", bytes,
             " bytes: ", cudaGetErrorString(status));
    return memory;
  }
  void release(void* memory, std::int64_t) override { cudaFree(memory); }

  /// From pageable memory, which may be used again on return.
  void copy_in(void* to, const void* from, std::int64_t bytes) override {
    done(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream_), "a copy");
  }
  void copy_out(void* to, const void* from, std::int64_t bytes) override {
    done(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, stream_), "a copy");
    synchronize();
  }
  void synchronize() override { done(cudaStreamSynchronize(stream_), "what was running"); }
  void* stream() override { return stream_; }

  bool records() const override { return true; }
  std::function<void()> record(const std::function<void()>& work) override {
    done(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "recording");
    cudaGraph_t graph = nullptr;
    try {
      work();
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);
      if (graph) cudaGraphDestroy(graph);
      throw;
    }
    done(cudaStreamEndCapture(stream_, &graph), "recording");
    cudaGraphExec_t made = nullptr;
    const cudaError_t status = cudaGraphInstantiate(&made, graph, 0);
    cudaGraphDestroy(graph);
    done(status, "a graph of what was recorded");
    const std::shared_ptr<CUgraphExec_st> owned(made, cudaGraphExecDestroy);
    return [this, owned] { done(cudaGraphLaunch(owned.get(), stream_), "a recorded step"); };
  }

 private:
  void done(cudaError_t status, const char* what) const {
    check_as(Exit::Device, status == cudaSuccess, info_.name, ": ", what, " failed: ", cudaGetErrorString(status));
  }

  DeviceInfo info_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace
#else
namespace {
constexpr const char* kNotBuilt = "CUDA is not in this build";
}
#endif

bool has_cuda() {
#ifdef LETHE_HAS_CUDA
  return true;
#else
  return false;
#endif
}

std::unique_ptr<Device> open_gpu([[maybe_unused]] int index, [[maybe_unused]] DeviceInfo settings) {
#ifdef LETHE_HAS_CUDA
  settings.kind = DeviceKind::Cuda;
  settings.name = message("cuda:", index);
  settings.alignment = kGpuAlignment;
  return std::make_unique<GpuDevice>(index, std::move(settings));
#else
  fail_as(Exit::Device, kNotBuilt);
#endif
}

std::string gpu_properties([[maybe_unused]] int index) {
#ifdef LETHE_HAS_CUDA
  check_gpu(index);
  return describe_gpu(index);
#else
  fail_as(Exit::Device, kNotBuilt);
#endif
}

}  // namespace lethe
