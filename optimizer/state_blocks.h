// The states of an update by blocks of 256 elements: floats, or numbers of 8 bits (framework/language/dynamic_map.h)
// beside their block's largest magnitude.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

#include "framework/language/block_formats.h"
#include "framework/language/dynamic_codes.h"
#include "kernels/device_code.h"

namespace lethe {

/// Elements that a thread of a GPU has of a block, which is a warp's; a CPU's thread has all of it.
inline constexpr int kElementsOfLane = static_cast<int>(kDynamicBlock) / 32;

/// The bits of |x|: as whole numbers they are in the order of magnitudes, and NaN is above all.
HD inline std::uint32_t magnitude_bits(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu; }

template <bool kSigned>
HD int nearest_code(float x) {
#ifdef __CUDA_ARCH__
  return dynamic_code<kSigned>(x);
#else
  return dynamic_code_by_table<kSigned>(x);
#endif
}

template <bool kSigned, class T>
struct CodedBlock {
  unsigned char* block;  // scale, codes
  HD float& scale() const { return *reinterpret_cast<float*>(block); }
  HD unsigned char* codes() const { return block + sizeof(float); }

  /// N numbers from element `first` of the block on.
  template <int N>
  HD void read(int first, T* to) const {
    const float by = scale();
    const unsigned char* const from = codes() + first;
    if (by == 0)  // a new state: all bytes are 0
      for (int k = 0; k < N; ++k) to[k] = 0;
    else
      for (int k = 0; k < N; ++k) to[k] = static_cast<T>(dynamic_value<kSigned>(from[k]) * by);
  }
  /// most_of: what all threads of the block know to be the most of what each gives (magnitude_bits). Without a sign
  /// what is above 0 stays so: it may be a root that something is divided by.
  template <int N, class MostOf>
  HD void write(int first, const T* from, const MostOf& most_of) const {
    std::uint32_t bits = 0;
    for (int k = 0; k < N; ++k) {
      const std::uint32_t own = magnitude_bits(static_cast<float>(from[k]));
      bits = own > bits ? own : bits;
    }
    const float most = std::bit_cast<float>(most_of(bits)), by = most == 0 ? 1 : most;
    if (first == 0) scale() = most;
    unsigned char coded[N];  // apart from all that `from` may be, so that the loop is done by vectors
    for (int k = 0; k < N; ++k) {
      const auto x = static_cast<float>(from[k]);
      const int code = nearest_code<kSigned>(x / by), least = !kSigned && x > 0 ? 1 : 0;
      coded[k] = static_cast<unsigned char>(code > least ? code : least);
    }
    std::memcpy(codes() + first, coded, N);
  }
};

/// A state of an update: f32 or f64 as T, dynamic8 or udynamic8.
template <class T>
struct StateBlocks {
  unsigned char* values;
  DType dtype;

  /// Elements first to first + N of a block, of which n are there: of floats; numbers of 8 bits fill whole blocks.
  template <int N>
  HD void read(std::int64_t block, int first, int n, T* to) const {
    if (dtype == DType::dynamic8) return coded<true>(block).template read<N>(first, to);
    if (dtype == DType::udynamic8) return coded<false>(block).template read<N>(first, to);
    for (int k = 0; k < N; ++k) to[k] = k < n ? floats(block)[first + k] : 0;
  }
  template <int N, class MostOf>
  HD void write(std::int64_t block, int first, int n, const T* from, const MostOf& most_of) const {
    if (dtype == DType::dynamic8) return coded<true>(block).template write<N>(first, from, most_of);
    if (dtype == DType::udynamic8) return coded<false>(block).template write<N>(first, from, most_of);
    for (int k = 0; k < n; ++k) floats(block)[first + k] = from[k];
  }

 private:
  template <bool kSigned>
  HD CodedBlock<kSigned, T> coded(std::int64_t block) const {
    return {values + block * static_cast<std::int64_t>(sizeof(float) + kDynamicBlock)};
  }
  HD T* floats(std::int64_t block) const { return reinterpret_cast<T*>(values) + block * kDynamicBlock; }
};

}  // namespace lethe
