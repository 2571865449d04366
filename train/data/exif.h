// How a camera was held.
#pragma once
#include <cstdint>
#include <span>

#include "train/data/image_file.h"

namespace lethe {

/// The orientation that EXIF's facts (a TIFF header and its first directory) state, 1 to 8; 1, which is upright, where
/// they state none.
int orientation_of(std::span<const std::uint8_t> exif);
/// EXIF's facts in a PNG file; empty if it has none.
std::span<const std::uint8_t> exif_of_png(std::span<const std::uint8_t> file);
/// The image as it is to be looked at: turned and mirrored as the orientation says.
Image upright(Image image, int orientation);

}  // namespace lethe
