// The data sets that need no files: images made when they are read, each a function of (seed, split, index).
#pragma once
#include <cstdint>
#include <memory>

#include "train/data_spec.h"
#include "train/dataset.h"

namespace lethe {

inline constexpr SampleCounts kShapeCounts{10000, 2000};
inline constexpr std::int64_t kSyntheticCount = 50000;

/// Coloured figures on a plain background, in any size and number of channels. With up to ten classes, a class is a
/// figure in any colour; with more, a figure in one of ceil(classes / 10) colours.
std::unique_ptr<Dataset> make_shapes(const ImageShape& image, std::int64_t classes, std::uint64_t seed,
                                     const SampleCounts& counts);

/// Random bytes and labels, as cheap to read as memory, for timing: `count` for training and a fifth of it for tests.
std::unique_ptr<Dataset> make_synthetic(const ImageShape& image, std::int64_t classes, std::uint64_t seed,
                                        std::int64_t count);

}  // namespace lethe
