// Numbers to blocks (block_formats.h), as those have it who made the formats: bitsandbytes (int8, nf4, nf4-dq), ggml
// (q8_0, q4_0, q4_1). On the host, a piece at a time, so that a large weight never stands there as a whole.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/language/block_formats.h"

namespace lethe {

class Quantizer {
 public:
  /// Of a weight of that shape, in one of the six formats; fails for another dtype or for complaint_about_blocks().
  /// `memory`: its bytes, which it fills.
  Quantizer(DType dtype, const Shape& shape, std::byte* memory);

  /// Numbers are added in multiples of so many, but for the last ones.
  std::int64_t grain() const { return grain_; }
  /// The next ones. Fails (Exit::Data) for one that is not finite, or too large for the format's scale.
  void add(const float* values, std::int64_t count);
  /// After all numbers.
  void finish();

 private:
  void add_group(const float* values, std::int64_t count);

  DType dtype_;
  BlockFormat format_;
  std::byte* memory_;
  std::int64_t elements_, grain_, added_ = 0;
  std::vector<float> magnitudes_ = {};  // of nf4-dq, until finish()
};

}  // namespace lethe
