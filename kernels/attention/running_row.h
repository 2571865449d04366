// The running softmax of attention on tensor cores.
#pragma once
#include <cmath>
#include <limits>

#include "kernels/tensor_cores.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

inline constexpr double kLog2e = 1.4426950408889634;

/// 2^x, by the GPU's instruction.
__device__ inline float exp2_of(float x) {
#ifdef __CUDA_ARCH__
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return std::exp2(x);
#endif
}

/// Of one of a lane's two rows, which three other lanes have too. Scores are times log2(e).
class RunningRow {
 public:
  /// Makes powers of scores, relative to the largest so far; gives what earlier sums fade to.
  template <int N>
  __device__ float soften(SumTile (&scores)[N], int row) {
    const float before = most_;
    for (SumTile& tile : scores)
      for (int i = 2 * row; i < 2 * row + 2; ++i) most_ = tile.at[i] > most_ ? tile.at[i] : most_;
    most_ = over_four(most_, [](float x, float y) { return y > x ? y : x; });
    const float fade = exp2_of(before - most_);
    total_ *= fade;
    for (SumTile& tile : scores)
      for (int i = 2 * row; i < 2 * row + 2; ++i) total_ += tile.at[i] = exp2_of(tile.at[i] - most_);
    return fade;
  }
  /// Called once, when all keys are through, before what follows.
  __device__ void end() {
    total_ = over_four(total_, [](float x, float y) { return x + y; });
  }
  __device__ float inverse() const { return total_ == 0 ? 0.0F : 1 / total_; }
  __device__ float lse() const {
    return total_ == 0 ? 0.0F : (most_ + std::log2(total_)) * static_cast<float>(1 / kLog2e);
  }

 private:
  template <class Join>
  __device__ static float over_four(float value, const Join& join) {
    for (int lane = 1; lane < 4; lane *= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, lane));
    return value;
  }

  float most_ = std::numeric_limits<float>::lowest(), total_ = 0;  // the total of the lane's own
};

}  // namespace lethe
#endif
