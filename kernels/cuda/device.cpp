#include "kernels/cuda/device.h"

#include "framework/error.h"

#ifdef LETHE_HAS_CUDA
#include <cuda_runtime_api.h>

#include <functional>
#include <limits>

#include "kernels/cuda/cudnn_graph.h"
#include "kernels/cuda/current_gpu.h"
#include "kernels/cuda/libraries.h"
#include "kernels/cuda/tell_once.h"
#endif

namespace lethe {
#ifdef LETHE_HAS_CUDA
namespace {

#ifdef LETHE_HAS_DEVICE_CODE
constexpr bool kHasDeviceCode = true;
#else
constexpr bool kHasDeviceCode = false;
#endif

std::string version_text(int version) { return message(version / 1000, '.', version % 1000 / 10); }

int count_gpus() {
  const char* const name = "cuda";
  int driver = 0, count = 0;
  cudaDriverGetVersion(&driver);
  check_as(Exit::Device, driver > 0, name, ": this machine has no NVIDIA driver");
  const cudaError_t status = cudaGetDeviceCount(&count);
  check_as(Exit::Device, status != cudaErrorInsufficientDriver, name, ": the driver serves CUDA ", version_text(driver),
           ", this program needs ", version_text(CUDART_VERSION));
  check_as(Exit::Device, status == cudaSuccess && count > 0, name, ": this machine has no GPU (",
           cudaGetErrorString(status == cudaSuccess ? cudaErrorNoDevice : status), ')');
  return count;
}

void check_gpu(int index) {
  const int count = count_gpus();
  check_as(Exit::Device, index < count, "cuda:", index, ": this machine has ", count,
           count == 1 ? " GPU, cuda:0" : " GPUs");
}

class GpuDevice final : public Device {
 public:
  GpuDevice(int index, DeviceInfo info) : index_(index), info_(std::move(info)) {
    check_gpu(index);
    check_as(Exit::Device, kHasDeviceCode, info_.name,
             ": this program was built without device code, for plans alone; with it: cmake -DLETHE_CUDA=ON");
    require(cudaSetDevice(index), "opening it");
    info_.libraries = std::make_shared<GpuLibraries>(index);
    stream_ = static_cast<cudaStream_t>(info_.libraries->stream());
    require(cudaStreamCreateWithFlags(&aside_, cudaStreamNonBlocking), "a stream");
    require(cudaEventCreateWithFlags(&mark_, cudaEventDisableTiming), "an event");
    require(cudaMalloc(&tickets_, kTickets * sizeof(unsigned)), "taking memory for tickets");
    constexpr unsigned zeros[kTickets] = {};
    copy_in(tickets_, zeros, sizeof zeros);
    synchronize();
    std::size_t free = 0, total = 0;
    require(cudaMemGetInfo(&free, &total), "its memory");
    info_.memory = static_cast<std::int64_t>(free);
  }
  ~GpuDevice() override {
    const CurrentGpu here(index_, std::nothrow);
    cudaFree(reserved_);
    cudaFree(tickets_);
    if (pool_) cudaMemPoolDestroy(pool_);
    cudaEventDestroy(mark_);
    cudaStreamDestroy(aside_);
  }
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;

  const DeviceInfo& info() const override { return info_; }

  void reserve(std::int64_t bytes) override {
    check_as(Exit::Internal, !reserved_, info_.name, ": memory was reserved twice");
    const CurrentGpu here(index_);
    std::size_t free = 0, total = 0;
    require(cudaMemGetInfo(&free, &total), "asking for its memory");
    const cudaError_t status = cudaMalloc(&reserved_, static_cast<std::size_t>(bytes));
    check_as(Exit::Budget, status != cudaErrorMemoryAllocation, "the run takes ", bytes, " bytes, and ", info_.name,
             " has ", free, " left; `train plan` with the same options says what takes less");
    require(status, "taking memory");
    room_ = bytes;
  }

  /// From what is reserved as long as there is room; beyond, from a pool whose memory comes and goes in the order of
  /// the stream.
  void* allocate(std::int64_t bytes) override {
    if (bytes == 0) return nullptr;
    const std::int64_t padded = round_up(bytes, info_.alignment);
    if (used_ + padded <= room_) {
      used_ += padded;
      return static_cast<std::byte*>(reserved_) + used_ - padded;
    }
    if (!pool_) make_pool();
    void* memory = nullptr;
    require(cudaMallocFromPoolAsync(&memory, static_cast<std::size_t>(bytes), pool_, stream_),
            "taking memory in a step");
    mark();  // copies aside may go there, but not before
    return memory;
  }
  void release(void* memory, std::int64_t) override {
    const std::less<const std::byte*> before;
    auto* const at = static_cast<const std::byte*>(memory);
    auto* const first = static_cast<const std::byte*>(reserved_);
    const bool is_reserved = first && !before(at, first) && before(at, first + room_);
    if (!is_reserved) cudaFreeAsync(memory, stream_);
  }

  /// Pinned: the GPU reads it by itself, without a copy by the host in between.
  HostMemory host_memory(std::int64_t bytes) override {
    const CurrentGpu here(index_);
    void* memory = nullptr;
    require(cudaMallocHost(&memory, static_cast<std::size_t>(bytes)), "taking host memory");
    return {static_cast<std::byte*>(memory), [](std::byte* taken) { cudaFreeHost(taken); }};
  }
  /// Pageable memory may be used again on return, pinned memory once the copy is done.
  void copy_in(void* to, const void* from, std::int64_t bytes) override {
    require(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream_), "a copy");
  }
  void copy_out(void* to, const void* from, std::int64_t bytes) override {
    copy_all_out(std::initializer_list<CopyOut>{{to, from, bytes}});
  }
  /// To pageable memory each is waited for.
  void copy_all_out(std::span<const CopyOut> copies) override {
    for (const auto& [to, from, bytes] : copies)
      require(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, stream_), "a copy");
    synchronize();
  }
  void copy(void* to, const void* from, std::int64_t bytes) override {
    require(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream_), "a copy");
  }
  void mark() override { require(cudaEventRecord(mark_, stream_), "a mark"); }
  void copy_in_aside(void* to, const void* from, std::int64_t bytes) override {
    require(cudaStreamWaitEvent(aside_, mark_, 0), "waiting for a mark");
    require(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, aside_), "a copy");
  }
  void finish_aside() override { require(cudaStreamSynchronize(aside_), "copies beside a step"); }
  void synchronize() override { require(cudaStreamSynchronize(stream_), "what was running"); }
  void compute(const std::function<void()>& work) override {
    const CurrentGpu here(index_);
    work();
  }
  void* stream() override { return stream_; }
  unsigned* tickets() override { return static_cast<unsigned*>(tickets_); }

  bool records() const override { return !info_.eager; }
  /// Where a step cannot be recorded, that is said once.
  std::function<void()> record(const std::function<void()>& work) override {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    try {
      require(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "recording");
      work();
      require(cudaStreamEndCapture(stream_, &graph), "recording");
      require(cudaGraphInstantiate(&made, graph, 0), "a graph of what was recorded");
    } catch (const Error& error) {
      tell_once(message("steps are run launch by launch: ", error.what()));
    }
    if (!made) give_up_recording(graph);
    if (graph) cudaGraphDestroy(graph);
    if (!made) return nullptr;
    const std::shared_ptr<CUgraphExec_st> owned(made, cudaGraphExecDestroy);
    return [this, owned] { require(cudaGraphLaunch(owned.get(), stream_), "a recorded step"); };
  }

 private:
  void give_up_recording(cudaGraph_t& graph) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(stream_, &status);
    if (status != cudaStreamCaptureStatusNone) cudaStreamEndCapture(stream_, &graph);
    cudaGetLastError();  // the next launch asks for it
  }

  /// Keeps what it has taken: the next step takes it again.
  void make_pool() {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = index_;
    require(cudaMemPoolCreate(&pool_, &properties), "a memory pool");
    std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
    require(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep), "a memory pool");
  }

  void require(cudaError_t status, const char* what) const {
    check_as(Exit::Device, status == cudaSuccess, info_.name, ": ", what, " failed: ", cudaGetErrorString(status));
  }

  int index_;
  DeviceInfo info_;
  cudaStream_t stream_ = nullptr, aside_ = nullptr;  // that of the libraries, and one for copies beside a step
  cudaEvent_t mark_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
  void *reserved_ = nullptr, *tickets_ = nullptr;
  std::int64_t room_ = 0, used_ = 0;  // bytes of it
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

int gpu_count() {
#ifdef LETHE_HAS_CUDA
  return count_gpus();
#else
  fail_as(Exit::Device, kNotBuilt);
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

std::string cudnn_version() {
#ifdef LETHE_HAS_CUDA
  const std::size_t version = cudnn().version();
  return message(version / 10000, '.', version / 100 % 100, '.', version % 100);
#else
  fail_as(Exit::Device, kNotBuilt);
#endif
}

}  // namespace lethe
