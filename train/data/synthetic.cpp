#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/random.h"
#include "train/data/data_spec.h"
#include "train/data/synthetic_images.h"

namespace lethe {
namespace {

/// A pool of random bytes, two images long; a sample is a window of it, so that reading costs what memory costs.
class NoisePool {
 public:
  NoisePool(const DataInfo& info, std::uint64_t seed)
      : seed_(seed),
        classes_(static_cast<std::uint32_t>(info.classes.size())),
        bytes_(static_cast<std::size_t>(info.image.bytes())),
        pool_(2 * bytes_) {
    Random random(seed, hash_of("synthetic pool"));
    for (std::uint8_t& byte : pool_) byte = static_cast<std::uint8_t>(random.next() >> 24);
  }

  void read(Split split, std::int64_t index, std::uint8_t* pixels, std::int32_t* labels, std::int64_t count) const {
    Random random(seed_, hash_of("synthetic") + static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(index));
    const std::uint32_t from = random.below(static_cast<std::uint32_t>(bytes_));
    std::memcpy(pixels, pool_.data() + from, bytes_);
    std::generate(labels, labels + count, [&] { return static_cast<std::int32_t>(random.below(classes_)); });
  }

 private:
  std::uint64_t seed_;
  std::uint32_t classes_;
  std::size_t bytes_;
  std::vector<std::uint8_t> pool_;
};

class Synthetic final : public Dataset {
 public:
  Synthetic(DataInfo info, std::uint64_t seed) : Dataset(std::move(info)), pool_(this->info(), seed) {}
  std::int32_t read(Split split, std::int64_t index, CropAt, std::uint8_t* pixels) const override {
    std::int32_t label = 0;
    pool_.read(split, index, pixels, &label, 1);
    return label;
  }

 private:
  NoisePool pool_;
};

class SyntheticMasks final : public Masks {
 public:
  SyntheticMasks(DataInfo info, std::uint64_t seed) : Masks(std::move(info)), pool_(this->info(), seed) {}
  void read(Split split, std::int64_t index, CropAt, std::uint8_t* pixels, std::int32_t* labels) const override {
    pool_.read(split, index, pixels, labels, this->labels());
  }

 private:
  NoisePool pool_;
};

DataInfo synthetic_info(const ImageShape& image, std::int64_t classes, std::int64_t count) {
  const auto channels = static_cast<std::size_t>(image.channels);
  DataInfo info{.name = "synthetic",
                .image = image,
                .sizes = {count, (count + 4) / 5},
                .mean = std::vector<double>(channels, 0.5),
                .deviation = std::vector<double>(channels, std::sqrt(1.0 / 12)),  // of a uniform value
                .held_bytes = 2 * image.bytes()};
  for (std::int64_t c = 0; c < classes; ++c) info.classes.push_back(std::to_string(c));
  return info;
}

}  // namespace

std::int64_t synthetic_count(const DataSpec& spec) {
  constexpr std::int64_t kUsual = 50000;
  return spec.count_or(kUsual);
}

std::unique_ptr<Dataset> make_synthetic(const ImageShape& image, std::int64_t classes, std::uint64_t seed,
                                        std::int64_t count) {
  return std::make_unique<Synthetic>(synthetic_info(image, classes, count), seed);
}

std::unique_ptr<Masks> make_synthetic_masks(const ImageShape& image, std::int64_t classes, std::uint64_t seed,
                                            std::int64_t count) {
  return std::make_unique<SyntheticMasks>(synthetic_info(image, classes, count), seed);
}

}  // namespace lethe
