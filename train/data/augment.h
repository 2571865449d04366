// Random variation of training images, and their normalisation. Everything random is a function of (seed, epoch,
// sample index): the same after a resume, and with any number of threads.
#pragma once
#include <cstdint>
#include <vector>

#include "framework/random.h"
#include "train/data/dataset.h"

namespace lethe {

/// The random stream of one sample in one epoch.
Random augmentation_stream(std::uint64_t seed, std::int64_t epoch, std::int64_t index);

/// Reads a sample and varies it: crop, flip, rotation, RandAugment, colours and cutout, in this order. Holds the
/// scratch images, so each thread needs its own.
class Augmenter {
 public:
  Augmenter(const Dataset& data, const Augmentation& options);
  struct Sample {
    const std::uint8_t* pixels;  // valid until the next call
    std::int32_t label;
  };
  Sample read(Split split, std::int64_t index, Random random);

 private:
  std::int32_t read_cropped(Split split, std::int64_t index, Random& random);
  void crop_and_flip(Random& random);
  void cut_out(Random& random);

  const Dataset& data_;
  Augmentation options_;
  Image image_, other_, whole_;  // what is varied; room for the next of it; as it is stored
  std::vector<std::uint8_t> mean_;
};

/// Applies the changes of colour that are drawn, in an order that is drawn, too.
void jitter_colors(Image& image, const ColorJitter& setting, Random& random);

/// Pixels to (p / 255 - mean) / deviation by channel, computed in f64 and rounded once to the dtype: those that the op
/// `normalize` makes, too. As u8 they stay what they are.
class Normalizer {
 public:
  Normalizer(const DataInfo& info, DType dtype);
  /// `count` bytes, a multiple of the channels, to as many numbers at `out`.
  void run(const std::uint8_t* pixels, std::int64_t count, void* out) const;

 private:
  std::int64_t channels_, width_;  // width: bytes of a number
  std::vector<std::byte> table_;   // [256, channels] numbers; none: bytes stay
};

}  // namespace lethe
