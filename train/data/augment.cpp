#include "train/data/augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/pixel_scale.h"
#include "train/data/mixing.h"
#include "train/data/rand_augment.h"
#include "train/data/resized_crop.h"

namespace lethe {
namespace {

/// A position in [0, room], each as likely.
std::int64_t any_of(Random& random, std::int64_t room) {
  return room > 0 ? random.below(static_cast<std::uint32_t>(room) + 1) : 0;
}

/// A factor about 1 that is at least 0.
double factor_of(Random& random, double reach) { return between(random, std::max(0.0, 1 - reach), 1 + reach); }

Filter any_filter(Random& random) { return random.below(2) == 1 ? Filter::Bicubic : Filter::Bilinear; }

}  // namespace

Random augmentation_stream(std::uint64_t seed, std::int64_t epoch, std::int64_t index) {
  return Random(seed, hash_of("augment") + static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(epoch));
}

Augmenter::Augmenter(const Dataset& data, const Augmentation& options) : data_(data), options_(options) {
  check(options.pad_crop >= 0 && options.cutout >= 0, "augmentation: pad_crop ", options.pad_crop, " and cutout ",
        options.cutout, " must not be negative");
  image_ = {data.info().image, std::vector<std::uint8_t>(static_cast<std::size_t>(data.info().image.bytes()))};
  other_ = image_;
  for (const double mean : data.info().mean) mean_.push_back(static_cast<std::uint8_t>(std::lround(mean * 255)));
}

Augmenter::Sample Augmenter::read(Split split, std::int64_t index, Random random) {
  const std::int32_t label = read_cropped(split, index, random);
  if (options_.pad_crop > 0 || options_.flip) crop_and_flip(random);
  if (options_.rotate > 0) {
    const double degrees = between(random, -options_.rotate, options_.rotate);
    transform(image_, rotation(image_.shape, degrees), any_filter(random), mean_);
  }
  rand_augment(image_, options_.rand_augment, random, mean_);
  if (options_.color_jitter.any()) jitter_colors(image_, options_.color_jitter, random);
  if (options_.cutout > 0) cut_out(random);
  return {image_.pixels.data(), label};
}

std::int32_t Augmenter::read_cropped(Split split, std::int64_t index, Random& random) {
  if (options_.resizes) {
    const std::int32_t label = data_.read_whole(split, index, whole_);
    const ImagePart part = draw_part(whole_.shape, options_.resized_crop, random);
    resize_part(whole_, part, any_filter(random), image_.shape, image_.pixels.data());
    return label;
  }
  CropAt crop;
  if (options_.random_crop) {
    crop.vertical = random.uniform();
    crop.horizontal = random.uniform();
  }
  return data_.read(split, index, crop, image_.pixels.data());
}

void Augmenter::crop_and_flip(Random& random) {
  const auto [height, width, channels] = data_.info().image;
  const std::int64_t down = any_of(random, 2 * options_.pad_crop) - options_.pad_crop;
  const std::int64_t right = any_of(random, 2 * options_.pad_crop) - options_.pad_crop;
  const bool flip = options_.flip && random.below(2) == 1;
  const std::int64_t row = width * channels;
  // Columns [begin, end) of the source are seen; the rest of a row is border.
  const std::int64_t begin = std::clamp<std::int64_t>(right, 0, width), end = std::clamp(width + right, begin, width);
  for (std::int64_t y = 0; y < height; ++y) {
    std::uint8_t* to = other_.pixels.data() + y * row;
    const std::int64_t from_y = y + down;
    if (from_y < 0 || from_y >= height || begin == end) {
      std::memset(to, 0, static_cast<std::size_t>(row));
      continue;
    }
    const std::uint8_t* from = image_.pixels.data() + from_y * row;
    const std::int64_t first = begin - right, seen = end - begin;
    std::memset(to, 0, static_cast<std::size_t>(first * channels));
    std::memcpy(to + first * channels, from + begin * channels, static_cast<std::size_t>(seen * channels));
    std::memset(to + (first + seen) * channels, 0, static_cast<std::size_t>((width - first - seen) * channels));
    if (!flip) continue;
    for (std::int64_t left = 0, last = width - 1; left < last; ++left, --last)
      std::swap_ranges(to + left * channels, to + (left + 1) * channels, to + last * channels);
  }
  std::swap(image_, other_);
}

void Augmenter::cut_out(Random& random) {
  const auto [height, width, channels] = data_.info().image;
  const std::int64_t top = any_of(random, height - 1) - options_.cutout / 2;
  const std::int64_t left = any_of(random, width - 1) - options_.cutout / 2;
  for (std::int64_t y = std::max<std::int64_t>(top, 0); y < std::min(top + options_.cutout, height); ++y)
    for (std::int64_t x = std::max<std::int64_t>(left, 0); x < std::min(left + options_.cutout, width); ++x)
      std::copy(mean_.begin(), mean_.end(), image_.pixels.begin() + (y * width + x) * channels);
}

void jitter_colors(Image& image, const ColorJitter& setting, Random& random) {
  constexpr std::size_t kChanges = 4;
  std::array<std::size_t, kChanges> order = {0, 1, 2, 3};
  for (std::size_t left = kChanges; left > 1; --left)
    std::swap(order[left - 1], order[random.below(static_cast<std::uint32_t>(left))]);
  const double brightness = factor_of(random, setting.brightness), contrast = factor_of(random, setting.contrast),
               saturation = factor_of(random, setting.saturation), hue = between(random, -setting.hue, setting.hue);
  for (const std::size_t change : order) {
    if (change == 0) adjust_brightness(image, brightness);
    if (change == 1) adjust_contrast(image, contrast);
    if (change == 2) adjust_saturation(image, saturation);
    if (change == 3 && setting.hue > 0) adjust_hue(image, hue);
  }
}

Normalizer::Normalizer(const DataInfo& info, DType dtype) : channels_(info.image.channels), width_(bytes_of(dtype)) {
  if (dtype == DType::u8) return;
  check(is_float(dtype), "images are made as floats or bytes, not ", name_of(dtype));
  table_.resize(256 * channels_ * width_);
  for (std::int64_t c = 0; c < channels_; ++c) {
    const PixelScale scale(info.mean[c], info.deviation[c]);
    for (int value = 0; value < 256; ++value)
      for_float(dtype, [&](auto zero) {
        const decltype(zero) number = scale(static_cast<std::uint8_t>(value));
        std::memcpy(table_.data() + (value * channels_ + c) * width_, &number, sizeof number);
      });
  }
}

namespace {

/// Numbers are copied, whatever they are.
template <class Word>
void look_up(const std::uint8_t* pixels, std::int64_t count, const std::byte* table, std::int64_t channels, void* out) {
  auto* to = static_cast<Word*>(out);
  const auto* from = reinterpret_cast<const Word*>(table);
  for (std::int64_t i = 0; i < count; i += channels)
    for (std::int64_t c = 0; c < channels; ++c) to[i + c] = from[pixels[i + c] * channels + c];
}

}  // namespace

void Normalizer::run(const std::uint8_t* pixels, std::int64_t count, void* out) const {
  if (table_.empty()) {
    std::memcpy(out, pixels, static_cast<std::size_t>(count));
    return;
  }
  const auto by_width = width_ == 2   ? look_up<std::uint16_t>
                        : width_ == 4 ? look_up<std::uint32_t>
                                      : look_up<std::uint64_t>;
  by_width(pixels, count, table_.data(), channels_, out);
}

namespace {

class ImageReader final : public SampleReader {
 public:
  ImageReader(const Dataset& data, const ReadOptions& options)
      : shape_(data.info().image),
        options_(options),
        augmenter_(data, options.augment),
        normalizer_(data.info(), options.dtype) {}

  void read(Split split, std::int64_t index, std::int64_t epoch, std::byte* sample, std::int32_t* labels) override {
    const auto [pixels, label] = augmenter_.read(split, index, augmentation_stream(options_.seed, epoch, index));
    normalizer_.run(pixels, shape_.bytes(), sample);
    *labels = label;
  }

  double read_pair(SamplePair& pair) override {
    const auto read = [&](std::size_t of) {
      const Random random = augmentation_stream(options_.seed, pair.epoch, pair.index[of]);
      const auto [pixels, label] = augmenter_.read(pair.split, pair.index[of], random);
      pair.labels[of] = label;
      pair_[of].assign(pixels, pixels + shape_.bytes());
    };
    for (const std::size_t of : {0, 1}) read(of);
    const Mix mix = draw_mix(options_.augment.mixing, shape_, mixing_stream(options_.seed, pair.epoch, pair.batch));
    mix_images(mix, shape_, pair_[0].data(), pair_[1].data());
    for (const std::size_t of : {0, 1})
      if (pair.samples[of]) normalizer_.run(pair_[of].data(), shape_.bytes(), pair.samples[of]);
    return mix.share;
  }

 private:
  ImageShape shape_;
  ReadOptions options_;
  Augmenter augmenter_;
  Normalizer normalizer_;
  std::array<std::vector<std::uint8_t>, 2> pair_;  // scratch
};

}  // namespace

std::unique_ptr<SampleReader> Dataset::reader(const ReadOptions& options) const {
  return std::make_unique<ImageReader>(*this, options);
}

}  // namespace lethe
