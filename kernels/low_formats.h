// The bits of bf16 and f16, and how f32 is rounded to them: to nearest, ties to even. A GPU has instructions for it;
// they give the same bits but for NaN.
#pragma once
#include <bit>
#include <cstdint>

#include "kernels/hd.h"
#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace lethe {

struct Bf16Format {                                // the upper half of an f32
  static constexpr float kMostToZero = 0x1p-134F;  // the largest that is rounded to 0
  HD static float widen(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  /// Of what was widened, likewise.
  HD static std::uint16_t narrow(float x) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16); }
  HD static std::uint16_t round(float x) {
#ifdef __CUDA_ARCH__
    return __bfloat16_as_ushort(__float2bfloat16_rn(x));
#else
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U)  // NaN, quiet, so that no payload becomes infinity
      return static_cast<std::uint16_t>(bits >> 16 | 0x40);
    return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
#endif
  }
};

/// IEEE's binary16: from 65520 on infinity; below 2^-14 multiples of 2^-24. Here no f32 subnormals come up, which
/// threads of ours flush to zero.
struct F16Format {
  static constexpr float kMostToZero = 0x1p-25F;  // half the least subnormal: a tie goes to 0
  HD static float widen(std::uint16_t bits) {
#ifdef __CUDA_ARCH__
    return __half2float(__ushort_as_half(bits));
#else
    const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16, rest = bits & 0x7FFFU;
    const float small = static_cast<float>(rest) * 0x1p-24F;
    const std::uint32_t normal = (rest << 13) + (112U << 23), special = rest << 13 | 0x7F800000U;
    const std::uint32_t wide = rest < 0x0400 ? std::bit_cast<std::uint32_t>(small) : rest < 0x7C00 ? normal : special;
    return std::bit_cast<float>(sign | wide);
#endif
  }
  HD static std::uint16_t narrow(float x) { return round(x); }
  HD static std::uint16_t round(float x) {
#ifdef __CUDA_ARCH__
    return __half_as_ushort(__float2half_rn(x));
#else
    const auto all = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t bits = all & 0x7FFFFFFFU, sign = all >> 16 & 0x8000U;
    const float size = std::bit_cast<float>(bits);
    const std::uint32_t small = std::bit_cast<std::uint32_t>(size + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
    const std::uint32_t normal = (bits + 0xFFF + (bits >> 13 & 1) - (112U << 23)) >> 13;
    // Compared as whole numbers, so that loops vectorise: 2^-14, 65520, infinity.
    const std::uint32_t large = bits > 0x7F800000U ? 0x7E00U : 0x7C00U;
    const std::uint32_t half = bits < 0x38800000U ? small : bits < 0x477FF000U ? normal : large;
    return static_cast<std::uint16_t>(sign | half);
#endif
  }
};

}  // namespace lethe
