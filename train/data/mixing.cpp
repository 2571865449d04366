#include "train/data/mixing.h"

#include <algorithm>
#include <cmath>

#include "framework/language/init.h"
#include "train/data/rand_augment.h"

namespace lethe {
namespace {

/// Of the distribution Gamma(alpha, 1) (Marsaglia and Tsang, 2000).
double gamma(Random& random, double alpha) {
  if (alpha < 1) {
    const double larger = gamma(random, alpha + 1);
    return larger * std::pow(1 - random.uniform(), 1 / alpha);
  }
  const double d = alpha - 1.0 / 3.0, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = gaussian(random), root = 1 + c * x, v = root * root * root;
    if (const double u = 1 - random.uniform(); v > 0 && std::log(u) < x * x / 2 + d - d * v + d * std::log(v))
      return d * v;
  }
}

/// A square of that share of the image, about any pixel, as far as it is inside.
ImagePart draw_cut(const ImageShape& image, double share, Random& random) {
  const double side = std::sqrt(share);
  const auto range = [&](std::int64_t size) {
    const auto half = static_cast<std::int64_t>(static_cast<double>(size) * side) / 2;
    const std::int64_t centre = random.below(static_cast<std::uint32_t>(size));
    const std::int64_t begin = std::max<std::int64_t>(centre - half, 0);
    return std::pair(begin, std::min(centre + half, size) - begin);
  };
  const auto [top, height] = range(image.height);
  const auto [left, width] = range(image.width);
  return {.top = top, .left = left, .height = height, .width = width};
}

}  // namespace

Random mixing_stream(std::uint64_t seed, std::int64_t epoch, std::int64_t batch) {
  return Random(seed, hash_of("mixing") + static_cast<std::uint64_t>(batch), static_cast<std::uint64_t>(epoch));
}

double beta(Random& random, double alpha) {
  const double a = gamma(random, alpha), b = gamma(random, alpha);
  return a + b > 0 ? a / (a + b) : random.below(2);  // both are 0 for a tiny alpha
}

Mix draw_mix(const Mixing& setting, const ImageShape& image, Random random) {
  if (random.uniform() >= setting.probability) return {};
  const bool both = setting.mixup > 0 && setting.cutmix > 0;
  const bool cuts = both ? random.uniform() < setting.cut_probability : setting.cutmix > 0;
  Mix mix{.share = beta(random, cuts ? setting.cutmix : setting.mixup), .cuts = cuts};
  if (!cuts || mix.share == 1) return mix;
  mix.cut = draw_cut(image, 1 - mix.share, random);
  mix.share = 1 - static_cast<double>(mix.cut.height * mix.cut.width) / static_cast<double>(image.height * image.width);
  return mix;
}

void mix_images(const Mix& mix, const ImageShape& image, std::uint8_t* a, std::uint8_t* b) {
  if (mix.share == 1) return;
  if (mix.cuts) {
    const std::int64_t width = mix.cut.width * image.channels;
    for (std::int64_t y = mix.cut.top; y < mix.cut.top + mix.cut.height; ++y) {
      const std::int64_t begin = (y * image.width + mix.cut.left) * image.channels;
      std::swap_ranges(a + begin, a + begin + width, b + begin);
    }
    return;
  }
  const auto own = static_cast<float>(mix.share), other = static_cast<float>(1 - mix.share);
  const auto mixed = [&](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(std::nearbyint(static_cast<float>(x) * own + static_cast<float>(y) * other));
  };
  for (std::int64_t i = 0; i < image.bytes(); ++i) {
    const std::uint8_t x = a[i], y = b[i];
    a[i] = mixed(x, y);
    b[i] = mixed(y, x);
  }
}

}  // namespace lethe
