#include "train/data/pixel_ops.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lethe {
namespace {

using Byte = std::uint8_t;
using ByteTable = std::array<Byte, 256>;

Byte clipped(double value) { return static_cast<Byte>(std::clamp(value, 0.0, 255.0)); }

/// A byte by what `of` gives for each value.
template <class Of>
ByteTable table_of(const Of& of) {
  ByteTable table;
  for (int value = 0; value < 256; ++value) table[value] = static_cast<Byte>(of(value));
  return table;
}

void look_up(Image& image, const ByteTable& table, std::int64_t channel = 0, std::int64_t step = 1) {
  for (std::int64_t i = channel; i < image.shape.bytes(); i += step) image.pixels[i] = table[image.pixels[i]];
}

std::array<std::int64_t, 256> histogram_of(const Image& image, std::int64_t channel) {
  std::array<std::int64_t, 256> counts{};
  for (std::int64_t i = channel; i < image.shape.bytes(); i += image.shape.channels) ++counts[image.pixels[i]];
  return counts;
}

/// Brightness of ITU-R 601, in 16 bits.
int grey_of(const Byte* pixel, std::int64_t channels) {
  return channels == 1 ? pixel[0] : (19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 0x8000) >> 16;
}

/// other(i) where the factor is 0, and the image where it is 1; between them and beyond, cut off to bytes.
template <class Other>
void blend(Image& image, double factor, const Other& other) {
  const auto share = static_cast<float>(factor);
  if (share == 1) return;
  for (std::int64_t i = 0; i < image.shape.bytes(); ++i) {
    const int from = other(i);
    image.pixels[i] = clipped(static_cast<float>(from) + share * static_cast<float>(image.pixels[i] - from));
  }
}

/// The mean of a pixel's neighbours and, with a weight of 5, itself; at the border the pixel.
std::vector<Byte> smoothed(const Image& image) {
  const auto [height, width, channels] = image.shape;
  std::vector<Byte> smooth = image.pixels;
  const std::int64_t row = width * channels;
  for (std::int64_t y = 1; y + 1 < height; ++y)
    for (std::int64_t i = y * row + channels; i < (y + 1) * row - channels; ++i) {
      int sum = 4 * image.pixels[i];
      for (const std::int64_t from : {i - row, i, i + row})
        sum += image.pixels[from - channels] + image.pixels[from] + image.pixels[from + channels];
      smooth[i] = static_cast<Byte>((2 * sum + 13) / 26);  // of 13, to the nearest
    }
  return smooth;
}

struct Hsv {
  int hue, saturation, value;
};

Hsv hsv_of(const Byte* pixel) {
  const int r = pixel[0], g = pixel[1], b = pixel[2];
  const int most = std::max({r, g, b}), least = std::min({r, g, b});
  if (most == least) return {0, 0, most};
  const auto range = static_cast<float>(most - least);
  const float red = static_cast<float>(most - r) / range, green = static_cast<float>(most - g) / range,
              blue = static_cast<float>(most - b) / range;
  const float sixth = r == most   ? blue - green
                      : g == most ? static_cast<float>(2.0 + red - blue)
                                  : static_cast<float>(4.0 + green - red);
  const auto hue = static_cast<float>(std::fmod(sixth / 6.0 + 1.0, 1.0));
  return {static_cast<int>(hue * 255.0), static_cast<int>(range / static_cast<float>(most) * 255.0), most};
}

void set_rgb(const Hsv& hsv, Byte* pixel) {
  const double sixths = static_cast<float>(hsv.hue) * 6.0 / 255.0;
  const int sixth = static_cast<int>(std::floor(sixths));
  const auto part = static_cast<float>(sixths - sixth);
  const auto saturation = static_cast<float>(static_cast<float>(hsv.saturation) / 255.0);
  const auto dimmed = [&](double by) { return clipped(std::round(static_cast<float>(hsv.value) * (1.0 - by))); };
  const Byte v = static_cast<Byte>(hsv.value), p = dimmed(saturation), q = dimmed(saturation * part),
             t = dimmed(saturation * (1.0 - part));
  const std::array<std::array<Byte, 3>, 6> colours = {
      {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}}};
  std::ranges::copy(colours[sixth % 6], pixel);
}

double mixed(double a, double b, double at) { return a + (b - a) * at; }
double cubic(double a, double b, double c, double d, double at) {
  return b + at * (c - a + at * (2 * (a - b) + c - d + at * (b - a + d - c)));
}

/// Pixels of one channel about a place; those beyond the border are the ones at it.
class Around {
 public:
  Around(const Image& image, double x, double y)
      : image_(image),
        left_(static_cast<std::int64_t>(std::floor(x - 0.5))),
        top_(static_cast<std::int64_t>(std::floor(y - 0.5))),
        across_(x - 0.5 - static_cast<double>(left_)),
        down_(y - 0.5 - static_cast<double>(top_)) {}

  Byte show(Filter filter, std::int64_t channel) const {
    const auto row = [&](std::int64_t dy) {
      const auto at = [&](std::int64_t dx) { return pixel(dx, dy, channel); };
      return filter == Filter::Bilinear ? mixed(at(0), at(1), across_) : cubic(at(-1), at(0), at(1), at(2), across_);
    };
    return clipped(filter == Filter::Bilinear ? mixed(row(0), row(1), down_)
                                              : cubic(row(-1), row(0), row(1), row(2), down_));
  }

 private:
  double pixel(std::int64_t dx, std::int64_t dy, std::int64_t channel) const {
    const auto [height, width, channels] = image_.shape;
    const std::int64_t x = std::clamp<std::int64_t>(left_ + dx, 0, width - 1),
                       y = std::clamp<std::int64_t>(top_ + dy, 0, height - 1);
    return image_.pixels[(y * width + x) * channels + channel];
  }

  const Image& image_;
  std::int64_t left_, top_;
  double across_, down_;
};

}  // namespace

void stretch_contrast(Image& image) {
  for (std::int64_t c = 0; c < image.shape.channels; ++c) {
    const auto counts = histogram_of(image, c);
    const auto is_there = [](std::int64_t count) { return count > 0; };
    const auto low = static_cast<int>(std::ranges::find_if(counts, is_there) - counts.begin());
    const auto high = static_cast<int>(counts.rend() - std::find_if(counts.rbegin(), counts.rend(), is_there)) - 1;
    if (high <= low) continue;
    const double scale = 255.0 / (high - low), offset = -low * scale;
    look_up(image, table_of([&](int value) { return clipped(value * scale + offset); }), c, image.shape.channels);
  }
}

void equalize(Image& image) {
  for (std::int64_t c = 0; c < image.shape.channels; ++c) {
    const auto counts = histogram_of(image, c);
    const auto last = std::find_if(counts.rbegin(), counts.rend(), [](std::int64_t count) { return count > 0; });
    const std::int64_t step = (image.shape.height * image.shape.width - *last) / 255;
    if (step == 0) continue;
    std::int64_t sum = step / 2;
    look_up(image, table_of([&](int value) {
              const std::int64_t level = std::min<std::int64_t>(sum / step, 255);
              sum += counts[value];
              return level;
            }),
            c, image.shape.channels);
  }
}

void invert(Image& image) {
  look_up(image, table_of([](int value) { return 255 - value; }));
}

void posterize(Image& image, int bits) {
  look_up(image, table_of([&](int value) { return value & (0xff00 >> bits); }));
}

void solarize(Image& image, int threshold) {
  look_up(image, table_of([&](int value) { return value < threshold ? value : 255 - value; }));
}

void solarize_add(Image& image, int added) {
  look_up(image, table_of([&](int value) { return value < 128 ? std::min(255, value + added) : value; }));
}

void adjust_brightness(Image& image, double factor) {
  blend(image, factor, [](std::int64_t) { return 0; });
}

void adjust_contrast(Image& image, double factor) {
  const std::int64_t channels = image.shape.channels, pixels = image.shape.height * image.shape.width;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < pixels; ++i) sum += grey_of(&image.pixels[i * channels], channels);
  const int mean = static_cast<int>(static_cast<double>(sum) / static_cast<double>(pixels) + 0.5);
  blend(image, factor, [&](std::int64_t) { return mean; });
}

void adjust_saturation(Image& image, double factor) {
  const std::int64_t channels = image.shape.channels;
  if (channels == 1) return;
  const std::vector<Byte> before = image.pixels;
  blend(image, factor, [&](std::int64_t i) { return grey_of(&before[i - i % channels], channels); });
}

void adjust_sharpness(Image& image, double factor) {
  const std::vector<Byte> smooth = smoothed(image);
  blend(image, factor, [&](std::int64_t i) { return smooth[i]; });
}

void adjust_hue(Image& image, double turn) {
  if (image.shape.channels == 1) return;
  const int steps = static_cast<int>(turn * 255);
  for (std::int64_t i = 0; i < image.shape.bytes(); i += image.shape.channels) {
    Hsv hsv = hsv_of(&image.pixels[i]);
    hsv.hue = static_cast<Byte>(hsv.hue + steps);
    set_rgb(hsv, &image.pixels[i]);
  }
}

void transform(Image& image, const Affine& affine, Filter filter, const std::vector<std::uint8_t>& border) {
  const Image from = image;
  const auto [height, width, channels] = image.shape;
  const auto& [a, b, c, d, e, f] = affine;
  Byte* to = image.pixels.data();
  for (std::int64_t row = 0; row < height; ++row)
    for (std::int64_t column = 0; column < width; ++column) {
      const double across = static_cast<double>(column) + 0.5, down = static_cast<double>(row) + 0.5;
      const double x = a * across + b * down + c, y = d * across + e * down + f;
      const bool inside = x >= 0 && y >= 0 && x < static_cast<double>(width) && y < static_cast<double>(height);
      const Around around(from, inside ? x : 0, inside ? y : 0);
      for (std::int64_t channel = 0; channel < channels; ++channel)
        *to++ = inside ? around.show(filter, channel) : border[channel];
    }
}

Affine rotation(const ImageShape& image, double degrees) {
  const auto rounded = [](double value) { return std::round(value * 1e15) / 1e15; };
  const double angle = -std::fmod(degrees + 360, 360) * std::numbers::pi / 180;
  const double cos = rounded(std::cos(angle)), sin = rounded(std::sin(angle));
  const double x = static_cast<double>(image.width) / 2, y = static_cast<double>(image.height) / 2;
  return {cos, sin, -cos * x - sin * y + x, -sin, cos, sin * x - cos * y + y};
}

}  // namespace lethe
