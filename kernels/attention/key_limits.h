// What limits the keys that rows see, beside what is alike in all samples.
#pragma once
#include <cstdint>

namespace lethe {

struct Positions {
  std::int64_t first, last;  // not among them
};

/// What limits the keys of all samples; null: nothing does.
struct KeyLimits {
  const std::int32_t* lengths;    // [batch]: keys at and beyond it are not seen
  const std::int32_t* positions;  // [batch, rows]: of a row in its text, which begins so many keys before it
};
/// The same of one sample.
struct SampleKeys {
  std::int64_t length;
  const std::int32_t* positions;
};

/// Of a mask, whose numbers are added to scores: [samples, heads, rows, keys]. Where an axis before the last is 1, they
/// are the same along it.
struct MaskShape {
  std::int64_t samples = 0, heads = 0, rows = 0, keys = 0;  // no samples: no mask
  bool wide = false;                                        // in f32, whatever the dtype of queries is
  bool given() const { return samples > 0; }
};

}  // namespace lethe
