// The CUDA runtime as far as the project calls it, by the simulated GPU: programs that link this need no other. A call
// that is missing here does not link.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/simulated/gpu.h"

namespace simulated = lethe::simulated;
using simulated::Gpu;

struct CUstream_st : simulated::Stream {};
struct CUevent_st {
  simulated::Event last;
};
struct CUgraph_st {
  simulated::Graph graph;
};
struct CUgraphExec_st {
  simulated::Graph graph;
};
struct CUmemPoolHandle_st {};

namespace {

/// That which the calling thread has turned to; that of a stream; that of memory.
Gpu& gpu() { return Gpu::the(); }
simulated::Stream& of(cudaStream_t stream) { return *reinterpret_cast<simulated::Stream*>(stream); }
Gpu& gpu(cudaStream_t stream) { return *of(stream).gpu; }
Gpu& gpu(const void* memory) { return Gpu::owner_of(memory); }

cudaError_t error_of(simulated::Refusal why) {
  switch (why) {
    case simulated::Refusal::InvalidValue:
      return cudaErrorInvalidValue;
    case simulated::Refusal::MemoryAllocation:
      return cudaErrorMemoryAllocation;
    case simulated::Refusal::CaptureUnsupported:
      return cudaErrorStreamCaptureUnsupported;
    case simulated::Refusal::CaptureInvalidated:
      return cudaErrorStreamCaptureInvalidated;
    case simulated::Refusal::CaptureUnjoined:
      return cudaErrorStreamCaptureUnjoined;
    case simulated::Refusal::IllegalState:
      return cudaErrorIllegalState;
    default:
      return cudaErrorLaunchFailure;
  }
}

template <class Call>
cudaError_t answer(const Call& call) {
  const auto lock = Gpu::alone();
  try {
    call();
    return cudaSuccess;
  } catch (simulated::Refusal why) {
    return error_of(why);
  }
}

}  // namespace

cudaError_t cudaDriverGetVersion(int* version) {
  *version = gpu().settings().driver;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = simulated::Settings::of_environment().count;
  if (gpu().settings().driver / 1000 < CUDART_VERSION / 1000) return cudaErrorInsufficientDriver;
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaSetDevice(int index) {
  if (index < 0 || index >= simulated::Settings::of_environment().count) return cudaErrorInvalidDevice;
  Gpu::turn_to(index);
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* index) {
  *index = Gpu::current();
  return cudaSuccess;
}
/// SIMULATED_GPU_ONE_BUS: they are all one piece of hardware.
cudaError_t cudaDeviceGetPCIBusId(char* address, int room, int index) {
  std::snprintf(address, static_cast<std::size_t>(room), "0000:%02x:00.0",
                std::getenv("SIMULATED_GPU_ONE_BUS") ? 0 : index);
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    default:
      return "an error of the simulated GPU";
  }
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = static_cast<std::size_t>(gpu().free_bytes());
  *total = static_cast<std::size_t>(gpu().settings().memory);
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return answer([&] { *memory = gpu().allocate(static_cast<std::int64_t>(bytes)); });
}
cudaError_t cudaFree(void* memory) {
  return answer([&] { gpu(memory).release(memory); });
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return answer([&] { *memory = gpu().allocate_host(static_cast<std::int64_t>(bytes)); });
}
cudaError_t cudaFreeHost(void* memory) {
  return answer([&] { gpu(memory).release_host(memory); });
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  *pool = new CUmemPoolHandle_st;
  const bool known =
      properties->allocType == cudaMemAllocationTypePinned && properties->location.type == cudaMemLocationTypeDevice;
  return known ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  delete pool;
  return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void** memory, std::size_t bytes, cudaMemPool_t, cudaStream_t stream) {
  return answer([&] { *memory = gpu(stream).allocate(of(stream), static_cast<std::int64_t>(bytes)); });
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  return answer([&] { gpu(stream).release(of(stream), memory); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const auto direction = kind == cudaMemcpyHostToDevice   ? Gpu::Direction::In
                         : kind == cudaMemcpyDeviceToHost ? Gpu::Direction::Out
                                                          : Gpu::Direction::Within;
  return answer([&] { gpu(stream).copy(of(stream), to, from, bytes, direction); });
}

cudaError_t cudaMemsetAsync(void* memory, int byte, std::size_t bytes, cudaStream_t stream) {
  return answer([&] {
    if (!gpu(stream).owns(memory, bytes)) throw simulated::Refusal::InvalidValue;
    gpu(stream).submit(of(stream), [=] { std::memset(memory, byte, bytes); });
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(gpu().make_stream());
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return answer([&] { gpu(stream).destroy(&of(stream)); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return answer([&] { gpu(stream).finish(of(stream)); });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  bool done = false;
  const cudaError_t status = answer([&] { done = gpu(stream).query(of(stream)); });
  return status != cudaSuccess || done ? status : cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return answer([&] { gpu(stream).wait(of(stream), event->last); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  if (std::getenv("SIMULATED_GPU_TELL")) std::fputs("simulated GPU: a time\n", stderr);
  return answer([&] {
    if (!begin->last->reached || !end->last->reached) throw simulated::Refusal::InvalidValue;
    *ms = std::chrono::duration<float, std::milli>(end->last->at - begin->last->at).count();
  });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return answer([&] { event->last = gpu(stream).record(of(stream)); });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (std::getenv("SIMULATED_GPU_NO_RECORDING")) return cudaErrorStreamCaptureUnsupported;
  return answer([&] { gpu(stream).begin_capture(of(stream)); });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  return answer([&] { *graph = new CUgraph_st{gpu(stream).end_capture(of(stream))}; });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const simulated::Stream& s = of(stream);
  *status = !s.captured           ? cudaStreamCaptureStatusNone
            : s.captured->invalid ? cudaStreamCaptureStatusInvalidated
                                  : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  *made = new CUgraphExec_st{graph->graph};
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  if (std::getenv("SIMULATED_GPU_TELL"))
    std::fprintf(stderr, "simulated GPU: a graph of %zu launches\n", simulated::launches_in(graph->graph));
  return answer([&] { gpu(stream).launch(of(stream), graph->graph); });
}
