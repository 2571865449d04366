// What limits the keys that rows see, beside what is alike in all samples.
#pragma once
#include <cstdint>

#include "kernels/hd.h"

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

/// Of some rows those whose text begins at row `begin` or before it: the first ones, since texts stand one after the
/// other.
HD inline Positions of_texts_from(std::int64_t begin, const Positions& of, const std::int32_t* positions) {
  std::int64_t low = of.first;
  for (std::int64_t high = of.last; low < high;) {
    const std::int64_t middle = low + (high - low) / 2;
    if (middle - positions[middle] > begin)
      high = middle;
    else
      low = middle + 1;
  }
  return {of.first, low};
}

}  // namespace lethe
