#include "tests/simt/simt_launch.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace lethe::simt {

// What every GPU takes (CUDA C++ Programming Guide, technical specifications): of shared memory what those from 8.0 on
// do if a launch asks (kernels/device_code.h); parameters as before CUDA 12.1.
void check_launch(dim3 grid, dim3 block, std::size_t shared, std::size_t parameters) {
  const auto expect = [](bool holds, const char* what) {
    if (!holds) throw std::logic_error(std::string("a launch with ") + what);
  };
  expect(grid.x > 0 && grid.y > 0 && grid.z > 0, "no block");
  expect(grid.x < 1U << 31 && grid.y < 1U << 16 && grid.z < 1U << 16, "too many blocks");
  expect(block.x > 0 && block.y > 0 && block.z > 0, "no thread");
  expect(std::uint64_t{block.x} * block.y * block.z <= 1024 && block.z <= 64, "more than 1024 threads a block");
  expect(shared <= 99 << 10, "more than 99 KiB of shared memory");
  expect(parameters <= 4096, "more than 4 KiB of parameters");
}

void expect_aligned(const void* at, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(at) % bytes == 0) return;
  std::fprintf(stderr, "device code reads or writes %zu bytes at %p, which is no multiple of it\n", bytes, at);
  std::abort();
}

}  // namespace lethe::simt
