// Changes of images in bytes, to the byte as Pillow has them (ImageOps, ImageEnhance, Image.transform): what timm and
// torchvision vary photographs by. Images have 1 channel (grey) or 3 (red, green, blue).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "train/data/image_file.h"

namespace lethe {

/// Each channel from its darkest to its brightest value.
void stretch_contrast(Image& image);  // ImageOps.autocontrast
/// Each channel's values as often as each other.
void equalize(Image& image);
void invert(Image& image);
/// Keeps the highest bits, 0 to 8.
void posterize(Image& image, int bits);
/// Inverts what is not below the threshold.
void solarize(Image& image, int threshold);
/// Adds to what is below 128.
void solarize_add(Image& image, int added);

/// Away from black, from the mean grey, from the grey image and from the smooth one: 0 is that, 1 the image as it is.
void adjust_brightness(Image& image, double factor);
void adjust_contrast(Image& image, double factor);
void adjust_saturation(Image& image, double factor);
void adjust_sharpness(Image& image, double factor);
/// Turns hues by -0.5 to 0.5 of the circle; grey images stay as they are.
void adjust_hue(Image& image, double turn);

enum class Filter : std::uint8_t { Bilinear, Bicubic };
using Affine = std::array<double, 6>;
/// The pixel at (x, y) of the result shows (a x + b y + c, d x + e y + f), all of them by pixels' centres. What lies
/// outside gets the colour of `border`, by channel.
void transform(Image& image, const Affine& affine, Filter filter, const std::vector<std::uint8_t>& border);
/// About the centre, against the clock.
Affine rotation(const ImageShape& image, double degrees);

}  // namespace lethe
