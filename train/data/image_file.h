// One PNG or JPEG file in memory, and a scaled part of it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "train/data/dataset.h"

namespace lethe {

/// Decodes a file with 1 channel (grey) or 3 (red, green, blue), whichever it has, upright as EXIF says. Fails with
/// Exit::Data and the path on files that are neither PNG nor JPEG, are damaged, end early, have more than `max_pixels`,
/// or unpack to more than their header says.
Image decode_image(const std::filesystem::path& path, std::int64_t channels, std::int64_t max_pixels);

/// Scales the image to `height` x `width` with a triangle filter as wide as a target pixel (so that nothing is skipped
/// when it shrinks; the same pixels if the size is the same), and writes the part of size `window` that begins at
/// (top, left) of the scaled image.
void scale_and_crop(const Image& image, std::int64_t height, std::int64_t width, std::int64_t top, std::int64_t left,
                    const ImageShape& window, std::uint8_t* out);

}  // namespace lethe
