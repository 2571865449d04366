#include "train/data/masks.h"

#include <algorithm>
#include <vector>

#include "framework/error.h"
#include "train/data/augment.h"
#include "train/data/synthetic_images.h"

namespace lethe {
namespace {

/// Reads a sample and varies it, image and labels alike. Draws in the order in which Augmenter does.
class MaskReader final : public SampleReader {
 public:
  MaskReader(const Masks& data, const ReadOptions& options)
      : data_(data),
        options_(options),
        normalizer_(data.info(), options.dtype),
        pixels_(static_cast<std::size_t>(data.info().image.bytes())) {}

  void read(Split split, std::int64_t index, std::int64_t epoch, std::byte* sample, std::int32_t* labels) override {
    Random random = augmentation_stream(options_.seed, epoch, index);
    CropAt crop;
    if (options_.augment.random_crop) {
      crop.vertical = random.uniform();
      crop.horizontal = random.uniform();
    }
    data_.read(split, index, crop, pixels_.data(), labels);
    if (options_.augment.flip && random.below(2) == 1) flip(labels);
    normalizer_.run(pixels_.data(), data_.info().image.bytes(), sample);
  }

 private:
  void flip(std::int32_t* labels) {
    const auto [height, width, channels] = data_.info().image;
    for (std::int64_t y = 0; y < height; ++y) {
      std::reverse(labels + y * width, labels + (y + 1) * width);
      std::uint8_t* const row = pixels_.data() + y * width * channels;
      for (std::int64_t left = 0, right = width - 1; left < right; ++left, --right)
        std::swap_ranges(row + left * channels, row + (left + 1) * channels, row + right * channels);
    }
  }

  const Masks& data_;
  const ReadOptions options_;
  Normalizer normalizer_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

std::unique_ptr<SampleReader> Masks::reader(const ReadOptions& options) const {
  const Augmentation& all = options.augment;
  check(all == Augmentation{.flip = all.flip, .random_crop = all.random_crop}, name(),
        ": gives a label for each pixel; of `augment` flip and random-crop change these, too, other words would not");
  return std::make_unique<MaskReader>(*this, options);
}

std::unique_ptr<Masks> open_masks(const std::string& text, const ImageShape& image, std::int64_t classes,
                                  std::uint64_t seed, std::optional<std::int64_t> ignored, const Notify& notify) {
  const DataSpec spec(text);
  if (spec.kind == "masks") return open_mask_folders(masks_spec(spec), image, classes, ignored, notify);
  if (spec.kind == "shape-masks") return make_shape_masks(image, classes, seed, spec.counts(kShapeCounts));
  if (spec.kind == "synthetic") return make_synthetic_masks(image, classes, seed, synthetic_count(spec));
  spec.reject_for_masks();
}

}  // namespace lethe
