// An update by blocks of 256 elements, where states are numbers of 8 bits or the parameter is bf16: the rule sees them
// as they are in f32. A CPU's thread has some blocks, a GPU's warp one at a time; the bits are the same.
#pragma once
#include "kernels/each_device.h"
#include "optimizer/state_blocks.h"
#include "optimizer/stochastic_rounding.h"

namespace lethe {

template <class Rule, class T, int States, class Gradient>
struct BlockUpdate {
  Rule rule;
  void* param;  // T, or Bf16 where `low`
  bool low;
  const Gradient* gradient;
  StateBlocks<T> states[States > 0 ? States : 1];
  std::int64_t count;
  RoundingStream rounding;
  const std::int64_t* step;  // null where the parameter is T

  /// Elements `first` to first + N of a block; those that are missing of the last one are 0 and stay so.
  template <int N, class R, class MostOf>
  HD void run(std::int64_t block, int first, const R& rates, const MostOf& most_of) const {
    const std::int64_t from = block * kDynamicBlock + first, left = count - from;
    const int n = left < 0 ? 0 : left < N ? static_cast<int>(left) : N;
    T w[N] = {}, g[N] = {}, s[States > 0 ? States : 1][N];
    if (low)
      for (int k = 0; k < n; ++k) w[k] = static_cast<T>(compute(static_cast<const Bf16*>(param)[from + k]));
    else
      for (int k = 0; k < n; ++k) w[k] = static_cast<const T*>(param)[from + k];
    for (int k = 0; k < n; ++k) g[k] = compute(gradient[from + k]);
    for (int i = 0; i < States; ++i) states[i].template read<N>(block, first, n, s[i]);
    for (int k = 0; k < N; ++k) {
      if constexpr (States == 0)
        rule(w[k], g[k], rates);
      else if constexpr (States == 1)
        rule(w[k], s[0][k], g[k], rates);
      else
        rule(w[k], s[0][k], s[1][k], g[k], rates);
    }
    for (int i = 0; i < States; ++i) states[i].template write<N>(block, first, n, s[i], most_of);
    if constexpr (std::is_same_v<T, float>)
      if (low) return rounding.template round<N>(w, from, n, *step, static_cast<Bf16*>(param) + from);
    for (int k = 0; k < n; ++k) static_cast<T*>(param)[from + k] = w[k];
  }
};

struct OfThread {
  HD std::uint32_t operator()(std::uint32_t most) const { return most; }
};

template <class Update, class Read>
void update_blocks(Cpu device, void* stream, const Update& update, const Read& read) {
  const auto rates = read();
  if (rates.grad_scale == 0) return;
  constexpr int kAll = static_cast<int>(kDynamicBlock);
  parallel_for(
      device, stream, (update.count + kAll - 1) / kAll,
      [update, rates](std::int64_t block) { update.template run<kAll>(block, 0, rates, OfThread{}); },
      kElementGrain / kAll + 1);
}
#ifdef LETHE_DEVICE_CODE
struct OfWarp {
  HD std::uint32_t operator()(std::uint32_t most) const {
#if defined(__CUDA_ARCH__) || !defined(__CUDACC__)
    for (int lane = 16; lane > 0; lane /= 2) {
      const auto other = static_cast<std::uint32_t>(__shfl_xor_sync(0xffffffffu, most, lane));
      most = other > most ? other : most;
    }
#endif
    return most;
  }
};

template <class Update, class Read>
__global__ void update_blocks_by_warps(Update update, Read read) {
  const auto rates = read();
  if (rates.grad_scale == 0) return;
  const std::int64_t warps = std::int64_t{gridDim.x} * blockDim.x / 32;
  const int first = static_cast<int>(threadIdx.x % 32) * kElementsOfLane;
  for (std::int64_t block = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
       block * kDynamicBlock < update.count; block += warps)
    update.template run<kElementsOfLane>(block, first, rates, OfWarp{});
}

template <class Update, class Read>
void update_blocks(Cuda, void* stream, const Update& update, const Read& read) {
  if (update.count == 0) return;
  const std::int64_t lanes = (update.count + kElementsOfLane - 1) / kElementsOfLane;
  LETHE_LAUNCH((update_blocks_by_warps<Update, Read>), element_blocks(lanes), dim3(kElementThreads), 0,
               static_cast<cudaStream_t>(stream), update, read);
}
#endif

}  // namespace lethe
