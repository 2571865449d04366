// The shim itself: it runs right kernels rightly and finds what is wrong in wrong ones.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "kernels/device_code.h"

namespace lethe::testing {
namespace {

constexpr int kThreads = 96;
constexpr unsigned kAll = ~0u;

std::vector<float> counted(int n) {
  std::vector<float> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/// What a launch of one block gives in either order of threads.
template <class Kernel>
std::vector<std::vector<float>> both_orders(Kernel kernel, int outputs, std::size_t shared = 0) {
  const std::vector<float> in = counted(kThreads);
  std::vector<std::vector<float>> out;
  for (const auto order : {simt::Order::Forward, simt::Order::Reverse}) {
    simt::order = order;
    out.emplace_back(static_cast<std::size_t>(outputs));
    launch(kernel, dim3(1), dim3(kThreads), shared, nullptr, in.data(), out.back().data());
  }
  simt::order = simt::Order::Forward;
  return out;
}

__global__ void block_sum(const float* in, float* out) {
  __shared__ float partial[kThreads / 32];
  float sum = in[threadIdx.x];
  for (int bits = 16; bits > 0; bits /= 2) sum += __shfl_xor_sync(kAll, sum, bits);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < kThreads / 32; ++warp) sum += partial[warp];
  *out = sum;
}

__global__ void neighbour(const float* in, float* out) {
  LETHE_DYN_SHARED(float, copy);
  copy[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = copy[(threadIdx.x + 1) % blockDim.x];
}

__global__ void neighbour_without_barrier(const float* in, float* out) {
  LETHE_DYN_SHARED(float, copy);
  copy[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = copy[(threadIdx.x + 1) % blockDim.x];
}

__global__ void half_a_warp_shuffles(const float* in, float* out) {
  float value = in[threadIdx.x];
  if (threadIdx.x % 32 < 16) value = __shfl_down_sync(kAll, value, 1);
  out[threadIdx.x] = value;
}

__global__ void half_a_warp_shuffles_and_says_so(const float* in, float* out) {
  float value = in[threadIdx.x];
  if (threadIdx.x % 32 < 16)
    value = __shfl_down_sync(0xFFFFu, value, 1);
  else
    value = __shfl_xor_sync(0xFFFF0000u, value, 1);
  out[threadIdx.x] = value;
}

__global__ void writes_one_too_far(const float* in, float* out) { out[threadIdx.x + 1] = in[threadIdx.x]; }

__global__ void writes_past_shared(const float* in, float* out) {
  __shared__ float small[kThreads / 2];
  const volatile unsigned last = threadIdx.x;
  small[last] = in[threadIdx.x];
  out[threadIdx.x] = small[0];
}

__global__ void counts_threads(unsigned* count) {
  if (threadIdx.x < blockDim.x && threadIdx.y < blockDim.y && blockIdx.y < gridDim.y) atomicAdd(count, 1u);
}

TEST(Shim, BlockReductionGivesTheSumInBothOrders) {
  for (const auto& out : both_orders(block_sum, 1)) EXPECT_EQ(out[0], kThreads * (kThreads + 1) / 2);
}

TEST(Shim, ThreadsSeeWhatOthersWroteBeforeTheBarrier) {
  for (const auto& out : both_orders(neighbour, kThreads, kThreads * sizeof(float))) {
    for (int i = 0; i < kThreads; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], (i + 1) % kThreads + 1);
  }
}

TEST(Shim, MissingBarrierMakesTheOrdersDiffer) {
  const auto out = both_orders(neighbour_without_barrier, kThreads, kThreads * sizeof(float));
  EXPECT_TRUE(std::isnan(out[0][0])) << "forward, thread 0 reads before thread 1 wrote";
  EXPECT_EQ(out[1][0], 2) << "in reverse it reads after";
}

TEST(Shim, EveryThreadOfEveryBlockRunsOnce) {
  unsigned count = 0;
  launch(counts_threads, dim3(3, 2), dim3(4, 5), 0, nullptr, &count);
  EXPECT_EQ(count, 3u * 2 * 4 * 5);
}

TEST(Shim, ALaunchThatNoGpuTakesIsAnError) {
  unsigned count = 0;
  EXPECT_THROW(launch(counts_threads, dim3(0), dim3(4), 0, nullptr, &count), std::logic_error);
  EXPECT_THROW(launch(counts_threads, dim3(1, 1 << 16), dim3(4), 0, nullptr, &count), std::logic_error);
  EXPECT_THROW(launch(counts_threads, dim3(1), dim3(512, 3), 0, nullptr, &count), std::logic_error);
  EXPECT_THROW(launch(counts_threads, dim3(1), dim3(4), 100 << 10, nullptr, &count), std::logic_error);
  EXPECT_EQ(count, 0U);
}

TEST(Shim, DivergentShuffleIsAnError) {
  EXPECT_THROW(both_orders(half_a_warp_shuffles, kThreads), std::logic_error);
  EXPECT_EQ(both_orders(block_sum, 1)[0][0], kThreads * (kThreads + 1) / 2) << "the next launch must be unharmed";
}

TEST(Shim, LanesOfDifferentMasksDoNotMix) {
  const auto out = both_orders(half_a_warp_shuffles_and_says_so, kThreads)[0];
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[15], 16) << "lane 16 is not named, so lane 15 keeps its own";
  EXPECT_EQ(out[16], 18);
  EXPECT_EQ(out[17], 17);
}

TEST(ShimDeathTest, OverrunOfTheHeapIsFound) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(both_orders(writes_one_too_far, kThreads), "heap-buffer-overflow");
}

TEST(ShimDeathTest, OverrunOfASharedArrayIsFound) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(both_orders(writes_past_shared, kThreads), "out of bounds|global-buffer-overflow");
}

}  // namespace
}  // namespace lethe::testing
