#include "tests/simulated/gpu.h"
#include "tests/support/gpu_records.h"

namespace lethe::testing {

GpuRecords::GpuRecords() { take_allocations(); }
GpuRecords::~GpuRecords() = default;

std::vector<std::int64_t> GpuRecords::take_allocations() { return simulated::Gpu::the().take_allocations(); }

/// Time is not simulated.
double GpuRecords::take_kernel_seconds() { return 0; }

}  // namespace lethe::testing
