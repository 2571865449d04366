#include "train/data/resized_crop.h"

#include <algorithm>
#include <cmath>

namespace lethe {
namespace {

constexpr int kTries = 10;
constexpr int kFractionBits = 22;  // of Pillow's weights for bytes

double weight_at(Filter filter, double x) {
  x = std::fabs(x);
  if (filter == Filter::Bilinear) return std::max(0.0, 1 - x);
  constexpr double a = -0.5;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/// Which source values make one target value: those from `first` on, with these weights.
struct WholeTaps {
  std::int64_t first;
  std::vector<std::int64_t> weights;
};

std::vector<WholeTaps> whole_taps(std::int64_t from, std::int64_t to, Filter filter) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to), reach = std::max(ratio, 1.0);
  const double support = (filter == Filter::Bilinear ? 1 : 2) * reach;
  std::vector<WholeTaps> taps;
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * ratio;
    const auto first = std::max<std::int64_t>(static_cast<std::int64_t>(centre - support + 0.5), 0);
    const auto end = std::min(static_cast<std::int64_t>(centre + support + 0.5), from);
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t at = first; at < end; ++at)
      sum += weights.emplace_back(weight_at(filter, (static_cast<double>(at) - centre + 0.5) / reach));
    WholeTaps& made = taps.emplace_back(WholeTaps{first, {}});
    for (const double weight : weights) made.weights.push_back(std::llround(std::ldexp(weight / sum, kFractionBits)));
  }
  return taps;
}

/// One value of `step` apart ones from `from` on.
std::uint8_t tapped(const WholeTaps& taps, const std::uint8_t* from, std::int64_t step) {
  std::int64_t sum = std::int64_t{1} << (kFractionBits - 1);
  from += taps.first * step;
  for (const std::int64_t weight : taps.weights) {
    sum += weight * *from;
    from += step;
  }
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> kFractionBits, 0, 255));
}

std::int64_t up_to(Random& random, std::int64_t room) { return random.below(static_cast<std::uint32_t>(room) + 1); }

}  // namespace

ImagePart draw_part(const ImageShape& image, const ResizedCrop& crop, Random& random) {
  const auto high = static_cast<double>(image.height), wide = static_cast<double>(image.width);
  for (int i = 0; i < kTries; ++i) {
    const double area = between(random, crop.least, crop.most) * high * wide;
    const double shape = std::exp(between(random, std::log(crop.narrowest), std::log(crop.widest)));
    ImagePart part{.height = std::llrint(std::sqrt(area / shape)), .width = std::llrint(std::sqrt(area * shape))};
    if (part.height < 1 || part.width < 1 || part.height > image.height || part.width > image.width) continue;
    part.top = up_to(random, image.height - part.height);
    part.left = up_to(random, image.width - part.width);
    return part;
  }
  ImagePart part{.height = image.height, .width = image.width};
  if (wide / high < crop.narrowest) part.height = std::max<std::int64_t>(std::llrint(wide / crop.narrowest), 1);
  if (wide / high > crop.widest) part.width = std::max<std::int64_t>(std::llrint(high * crop.widest), 1);
  part.top = (image.height - part.height) / 2;
  part.left = (image.width - part.width) / 2;
  return part;
}

void resize_part(const Image& image, const ImagePart& part, Filter filter, const ImageShape& size, std::uint8_t* out) {
  const std::int64_t channels = image.shape.channels, row = size.width * channels;
  const std::vector<WholeTaps> across = whole_taps(part.width, size.width, filter),
                               down = whole_taps(part.height, size.height, filter);
  std::vector<std::uint8_t> narrow(static_cast<std::size_t>(part.height * row));
  for (std::int64_t y = 0; y < part.height; ++y) {
    const std::uint8_t* const from = image.pixels.data() + ((part.top + y) * image.shape.width + part.left) * channels;
    for (std::int64_t i = 0; i < row; ++i)
      narrow[y * row + i] = tapped(across[i / channels], from + i % channels, channels);
  }
  for (std::int64_t y = 0; y < size.height; ++y)
    for (std::int64_t i = 0; i < row; ++i) out[y * row + i] = tapped(down[y], narrow.data() + i, row);
}

}  // namespace lethe
