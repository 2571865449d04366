#include "tests/support/gpu_records.h"

#include "framework/error.h"

#ifdef LETHE_HAS_CUPTI
#include <cupti.h>

#include <cstdlib>
#include <mutex>
#include <utility>

#include "kernels/cuda/shared_library.h"
#endif

namespace lethe::testing {

#ifdef LETHE_HAS_CUPTI
namespace {

// The members read here stand at the same places in both.
#if CUPTI_API_VERSION >= 130000
using MemoryRecord = CUpti_ActivityMemory4;
using KernelRecord = CUpti_ActivityKernel10;
#else
using MemoryRecord = CUpti_ActivityMemory3;
using KernelRecord = CUpti_ActivityKernel9;
#endif

struct Cupti {
  decltype(&::cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&::cuptiActivityEnable) enable;
  decltype(&::cuptiActivityDisable) disable;
  decltype(&::cuptiActivityFlushAll) flush;
  decltype(&::cuptiActivityGetNextRecord) next_record;
};

const Cupti& cupti() {
  static const Cupti loaded = [] {
    const SharedLibrary library("CUPTI", message("libcupti.so.", CUDA_VERSION / 1000));
    Cupti c{};
    library.find(c.register_callbacks, "cuptiActivityRegisterCallbacks");
    library.find(c.enable, "cuptiActivityEnable");
    library.find(c.disable, "cuptiActivityDisable");
    library.find(c.flush, "cuptiActivityFlushAll");
    library.find(c.next_record, "cuptiActivityGetNextRecord");
    return c;
  }();
  return loaded;
}

/// CUPTI hands buffers over from threads of its own.
struct Found {
  std::mutex mutex;
  std::vector<std::int64_t> allocations;
  double kernel_seconds = 0;
};
Found& found() {
  static Found all;
  return all;
}

void note(const CUpti_Activity* record) {
  if (record->kind == CUPTI_ACTIVITY_KIND_MEMORY2) {
    const auto* memory = reinterpret_cast<const MemoryRecord*>(record);
    if (memory->memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION &&
        memory->memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE)
      found().allocations.push_back(static_cast<std::int64_t>(memory->bytes));
  } else if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto* kernel = reinterpret_cast<const KernelRecord*>(record);
    found().kernel_seconds += static_cast<double>(kernel->end - kernel->start) * 1e-9;
  }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  constexpr std::size_t kBytes = 4 << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBytes));
  *size = kBytes;
  *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  {
    const std::lock_guard lock(found().mutex);
    CUpti_Activity* record = nullptr;
    while (cupti().next_record(buffer, valid, &record) == CUPTI_SUCCESS) note(record);
  }
  std::free(buffer);
}

constexpr CUpti_ActivityKind kRecorded[] = {CUPTI_ACTIVITY_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};

void check_cupti(CUptiResult result, const char* what) {
  check_as(Exit::Device, result == CUPTI_SUCCESS, "CUPTI: ", what, " failed with ", static_cast<int>(result));
}

}  // namespace

GpuRecords::GpuRecords() {
  check_cupti(cupti().register_callbacks(give_buffer, take_buffer), "registering");
  for (const CUpti_ActivityKind kind : kRecorded) check_cupti(cupti().enable(kind), "recording");
  take_allocations();
  take_kernel_seconds();
}
GpuRecords::~GpuRecords() {
  for (const CUpti_ActivityKind kind : kRecorded) cupti().disable(kind);
}

std::vector<std::int64_t> GpuRecords::take_allocations() {
  check_cupti(cupti().flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "flushing");
  const std::lock_guard lock(found().mutex);
  return std::exchange(found().allocations, {});
}

double GpuRecords::take_kernel_seconds() {
  check_cupti(cupti().flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "flushing");
  const std::lock_guard lock(found().mutex);
  return std::exchange(found().kernel_seconds, 0);
}

#else

GpuRecords::GpuRecords() { fail_as(Exit::Device, "CUPTI is not in this build"); }
GpuRecords::~GpuRecords() = default;
std::vector<std::int64_t> GpuRecords::take_allocations() { return {}; }
double GpuRecords::take_kernel_seconds() { return 0; }

#endif

}  // namespace lethe::testing
