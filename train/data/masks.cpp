#include "train/data/masks.h"

#include <vector>

#include "framework/error.h"
#include "train/data/augment.h"
#include "train/data/data_spec.h"
#include "train/data/synthetic_images.h"

namespace lethe {
namespace {

class MaskReader final : public SampleReader {
 public:
  MaskReader(const Masks& data, const ReadOptions& options)
      : data_(data),
        normalizer_(data.info(), options.dtype),
        pixels_(static_cast<std::size_t>(data.info().image.bytes())) {}

  void read(Split split, std::int64_t index, std::int64_t, std::byte* sample, std::int32_t* labels) override {
    data_.read(split, index, pixels_.data(), labels);
    normalizer_.run(pixels_.data(), data_.info().image.bytes(), sample);
  }

 private:
  const Masks& data_;
  Normalizer normalizer_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

std::unique_ptr<SampleReader> Masks::reader(const ReadOptions& options) const {
  check(options.augment == Augmentation{}, name(), ": gives a label for each pixel, which is not augmented");
  return std::make_unique<MaskReader>(*this, options);
}

std::unique_ptr<Masks> open_masks(const std::string& text, const ImageShape& image, std::int64_t classes,
                                  std::uint64_t seed) {
  const DataSpec spec(text);
  if (spec.kind == "shape-masks") return make_shape_masks(image, classes, seed, spec.counts(kShapeCounts));
  if (spec.kind == "synthetic") return make_synthetic_masks(image, classes, seed, synthetic_count(spec));
  spec.reject_for_masks();
}

}  // namespace lethe
