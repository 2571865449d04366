// Random parts of images, scaled as Pillow scales.
#pragma once
#include "framework/random.h"
#include "train/data/augmentation.h"
#include "train/data/pixel_ops.h"

namespace lethe {

/// Uniform from low to high.
inline double between(Random& random, double low, double high) { return low + (high - low) * random.uniform(); }

/// A rectangle of an image.
struct ImagePart {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
  bool operator==(const ImagePart&) const = default;
};

/// Draws a part of an image of that size, as timm does: ten tries, then the largest part about the centre whose shape
/// is allowed.
ImagePart draw_part(const ImageShape& image, const ResizedCrop& crop, Random& random);

/// The part of the image, as Image.crop().resize() gives it: filters widen as the image shrinks, and rows are rounded
/// to bytes before columns are scaled. Channels of `size` are those of the image.
void resize_part(const Image& image, const ImagePart& part, Filter filter, const ImageShape& size, std::uint8_t* out);

}  // namespace lethe
