// Images with a label for each pixel, for networks that tell what is where.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "train/data/dataset.h"

namespace lethe {

class Masks : public Samples {
 public:
  const DataInfo& info() const { return info_; }
  const std::string& name() const override { return info_.name; }
  std::int64_t size(Split split) const override { return info_.sizes[static_cast<int>(split)]; }
  std::int64_t sample_bytes(DType dtype) const override { return info_.image.bytes() * bytes_of(dtype); }
  std::int64_t labels() const override { return info_.image.height * info_.image.width; }
  std::vector<std::string> classes() const override { return info_.classes; }
  std::optional<PixelNorm> pixels() const override { return PixelNorm{info_.mean, info_.deviation}; }
  /// Images are normalised; they are not varied.
  std::unique_ptr<SampleReader> reader(const ReadOptions& options) const override;
  /// Writes image `index` as info().image.bytes() bytes, and its labels [height, width]. Always the same for the same
  /// arguments; may be called from several threads.
  virtual void read(Split split, std::int64_t index, std::uint8_t* pixels, std::int32_t* labels) const = 0;

 protected:
  explicit Masks(DataInfo info) : info_(std::move(info)) {}

 private:
  DataInfo info_;
};

/// Opens what `spec` names, for a network that takes such images and tells so many classes apart at each pixel:
///   shape-masks[:train=N,test=M]  synthetic[:N]
/// Fails with Exit::Usage on an unknown spec, with Exit::Data on fewer classes than it takes.
std::unique_ptr<Masks> open_masks(const std::string& spec, const ImageShape& image, std::int64_t classes,
                                  std::uint64_t seed);

}  // namespace lethe
