// The images that need no files: made when they are read, each a function of (seed, split, index).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "train/data/data_spec.h"
#include "train/data/dataset.h"
#include "train/data/masks.h"

namespace lethe {

inline constexpr SampleCounts kShapeCounts{10000, 2000};
/// Training samples of synthetic data: 50,000 unless the spec says how many.
std::int64_t synthetic_count(const DataSpec& spec);

/// Coloured figures on a plain background, in any size and number of channels. With up to ten classes, a class is a
/// figure in any colour; with more, a figure in one of ceil(classes / 10) colours.
std::unique_ptr<Dataset> make_shapes(const ImageShape& image, std::int64_t classes, std::uint64_t seed,
                                     const SampleCounts& counts);

/// Random bytes and labels, as cheap to read as memory, for timing: `count` for training and a fifth of it for tests.
std::unique_ptr<Dataset> make_synthetic(const ImageShape& image, std::int64_t classes, std::uint64_t seed,
                                        std::int64_t count);

/// The figures of shapes, told from their ground: label 0 is the ground, 1 + c a figure of class c of `classes` - 1.
std::unique_ptr<Masks> make_shape_masks(const ImageShape& image, std::int64_t classes, std::uint64_t seed,
                                        const SampleCounts& counts);

/// Random bytes and a random label for each pixel.
std::unique_ptr<Masks> make_synthetic_masks(const ImageShape& image, std::int64_t classes, std::uint64_t seed,
                                            std::int64_t count);

/// A plane figure as a signed distance: negative inside, positive outside.
struct Figure {
  std::string_view name;
  /// Distance of (x, y) from the border of the figure, which fits in the unit disc. (At outer corners the nearest
  /// edge's line counts, which is enough for smooth borders.)
  float (*distance)(float x, float y);
};

/// They stay apart when they are turned.
const std::array<Figure, 10>& figures();

}  // namespace lethe
