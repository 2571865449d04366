// CUDA's language as host code, with the launch of kernels: kernels/device_code.h includes this in nvcc's stead when
// LETHE_SIMT is defined. Blocks run one after the other.
#pragma once
#include <cstddef>
#include <functional>
#include <tuple>

#include "framework/language/launch_count.h"
#include "tests/simt/simt_host.h"

namespace lethe {
namespace simt {

/// Where launches go: they run at once, but where a simulated GPU takes them (tests/simulated).
inline std::function<void(cudaStream_t, std::function<void()>)> submit =
    [](cudaStream_t, const std::function<void()>& blocks) { blocks(); };

/// Fails as CUDA does over a launch that no GPU takes.
void check_launch(dim3 grid, dim3 block, std::size_t shared, std::size_t parameters);

/// Ends the program unless the address is a multiple of `bytes`: device code cannot throw.
void expect_aligned(const void* at, std::size_t bytes);

}  // namespace simt

/// Runs the kernel to its end, or hands it over: what it was given is copied, as CUDA does.
template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream, A&&... args) {
  if (LaunchCount::takes_launch()) return;
  simt::check_launch(grid, block, shared, (sizeof(P) + ... + 0));
  simt::submit(stream, [=, parameters = std::tuple<P...>(static_cast<P>(args)...)] {
    gridDim = grid;
    blockDim = block;
    const unsigned blocks = grid.x * grid.y * grid.z, threads = block.x * block.y * block.z;
    for (unsigned i = 0; i < blocks; ++i) {
      const unsigned b = simt::order == simt::Order::Forward ? i : blocks - 1 - i;
      blockIdx = {b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y};
      simt::Block::current().run(threads, shared, simt::order, [&](unsigned t) {
        threadIdx = {t % block.x, t / block.x % block.y, t / block.x / block.y};
        std::apply(kernel, parameters);
      });
    }
  });
}

}  // namespace lethe
