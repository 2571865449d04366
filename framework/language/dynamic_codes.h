// The nearest code of a dynamic map (dynamic_map.h) by one look into a table, as a CPU's vectors do it: the upper bits
// of a magnitude say between which two floats it lies, and between those at most one code ends.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "framework/language/dynamic_map.h"

namespace lethe {

/// Of the floats with the same upper bits: the place of their first one's code in the upper 8 bits, and below them so
/// much that adding the lower bits of a float past the last one of that code carries into the place.
template <bool kSigned>
struct DynamicSteps {
  static constexpr int kLowBits = kSigned ? 17 : 16, kPlaceBits = 24;
  static constexpr std::uint32_t kLow = (1u << kLowBits) - 1;
  /// Upper bits below those of any place's end, and those of 1.
  static constexpr int kFirst = static_cast<int>(std::bit_cast<std::uint32_t>(1e-7f) >> kLowBits) - 1;
  static constexpr int kLast = static_cast<int>(std::bit_cast<std::uint32_t>(1.0f) >> kLowBits);

  std::array<std::uint32_t, kLast - kFirst + 1> words{};

  constexpr DynamicSteps() {
    int place = 0;
    for (int upper = kFirst; upper <= kLast; ++upper) {
      const bool ends = place < kMost && last_of(place) >> kLowBits == static_cast<std::uint32_t>(upper);
      const std::uint32_t last = ends ? last_of(place) & kLow : kLow;
      words[upper - kFirst] = (static_cast<std::uint32_t>(place + 1) << kPlaceBits) - 1 - last;
      place += ends;
    }
  }

 private:
  static constexpr int kMost = 255 - kDynamicZero<kSigned>;
  /// The bits of the last float that is not above the middle between a place and the next.
  static constexpr std::uint32_t last_of(int place) {
    const float low = dynamic_magnitude<kSigned>(place), high = dynamic_magnitude<kSigned>(place + 1);
    const float middle = (low + high) / 2;
    return std::bit_cast<std::uint32_t>(middle) - (above_middle(middle, low, high) ? 1 : 0);
  }
};

template <bool kSigned>
inline constexpr DynamicSteps<kSigned> kDynamicSteps;

/// dynamic_code(x) of what is at least -1 and at most 1, without a sign at least 0; that of 0 of what is no number.
/// There is no branch, so that loops are done by vectors.
template <bool kSigned>
inline int dynamic_code_by_table(float x) {
  using Steps = DynamicSteps<kSigned>;
  const auto bits = std::bit_cast<std::uint32_t>(x), magnitude = bits & 0x7FFFFFFFu;
  constexpr int kMost = Steps::kLast - Steps::kFirst;
  const int upper = std::clamp(static_cast<int>(magnitude >> Steps::kLowBits) - Steps::kFirst, 0, kMost);
  const std::uint32_t step = kDynamicSteps<kSigned>.words[upper] + (magnitude & Steps::kLow);
  const int place = static_cast<int>(step >> Steps::kPlaceBits) & -(magnitude <= 0x7F800000u);
  const int sign = static_cast<int>(bits) >> 31;  // all bits, or none
  if constexpr (!kSigned) return place & ~sign;
  return std::max(kDynamicZero<kSigned> + ((place ^ sign) - sign), 0);
}

}  // namespace lethe
