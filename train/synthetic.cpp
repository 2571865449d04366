#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "framework/init.h"
#include "framework/random.h"
#include "train/made_images.h"

namespace lethe {
namespace {

/// A pool of random bytes, two images long; a sample is a window of it, so that reading costs what memory costs.
class Synthetic final : public Dataset {
 public:
  Synthetic(DataInfo info, std::uint64_t seed)
      : Dataset(std::move(info)), seed_(seed), pool_(static_cast<std::size_t>(2 * this->info().image.bytes())) {
    Random random(seed, hash_of("synthetic pool"));
    for (std::uint8_t& byte : pool_) byte = static_cast<std::uint8_t>(random.next() >> 24);
  }

  std::int32_t read(Split split, std::int64_t index, CropAt, std::uint8_t* pixels) const override {
    const std::int64_t bytes = info().image.bytes();
    Random random(seed_, hash_of("synthetic") + static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(index));
    const std::uint32_t from = random.below(static_cast<std::uint32_t>(bytes));
    std::memcpy(pixels, pool_.data() + from, static_cast<std::size_t>(bytes));
    return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(info().classes.size())));
  }

 private:
  std::uint64_t seed_;
  std::vector<std::uint8_t> pool_;
};

}  // namespace

std::unique_ptr<Dataset> make_synthetic(const ImageShape& image, std::int64_t classes, std::uint64_t seed,
                                        std::int64_t count) {
  const auto channels = static_cast<std::size_t>(image.channels);
  DataInfo info{.name = "synthetic",
                .image = image,
                .sizes = {count, (count + 4) / 5},
                .mean = std::vector<double>(channels, 0.5),
                .deviation = std::vector<double>(channels, std::sqrt(1.0 / 12)),  // of a uniform value
                .held_bytes = 2 * image.bytes()};
  for (std::int64_t c = 0; c < classes; ++c) info.classes.push_back(std::to_string(c));
  return std::make_unique<Synthetic>(std::move(info), seed);
}

}  // namespace lethe
