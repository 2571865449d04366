// What the driver says was done on GPUs: CUPTI's records of device memory taken by any part of the process, libraries
// included, and of the time that kernels ran.
#pragma once
#include <cstdint>
#include <vector>

namespace lethe::testing {

/// One at a time; records from its making on.
class GpuRecords {
 public:
  /// Fails with Exit::Device where CUPTI is not there, in this build or on this machine.
  GpuRecords();
  ~GpuRecords();
  GpuRecords(const GpuRecords&) = delete;
  GpuRecords& operator=(const GpuRecords&) = delete;

  /// Bytes of each piece of device memory that was taken since the last call, in order.
  std::vector<std::int64_t> take_allocations();
  /// Seconds that kernels ran since the last call, added up.
  double take_kernel_seconds();
};

}  // namespace lethe::testing
