// Labelled images. A data set holds or makes images as bytes; floating point exists only for the batch at hand
// (train/data/batches.h).
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "train/data/samples.h"

namespace lethe {

/// The size of an image, whose bytes stand in memory as [height, width, channels].
struct ImageShape {
  std::int64_t height = 0, width = 0, channels = 0;
  std::int64_t bytes() const { return height * width * channels; }
  bool operator==(const ImageShape&) const = default;
};
std::string text_of(const ImageShape& image);  // "28x28 with 1 channel"
struct Image {
  ImageShape shape = {};
  std::vector<std::uint8_t> pixels = {};  // [height, width, channels]
};
/// The image of a network's input [N, H, W, C]; fails (Exit::Data) if that has not four axes.
ImageShape image_shape_of(const Shape& input);

struct DataInfo {
  std::string name = {};  // the spec's first word: "cifar10"
  ImageShape image = {};
  std::vector<std::string> classes = {};   // their names; a label is an index into it
  std::array<std::int64_t, 2> sizes = {};  // images in each Split
  /// What normalisation subtracts from pixels that are scaled to [0, 1], and what it then divides by; by channel.
  std::vector<double> mean = {}, deviation = {};
  std::int64_t held_bytes = 0;  // host memory that the set keeps for as long as it is open
};

/// Which part of an image larger than asked for is shown: 0 is the top or left edge, 1 the bottom or right.
struct CropAt {
  double vertical = 0.5, horizontal = 0.5;
};

/// Images and what is alike in all of them.
class ImageSet : public Samples {
 public:
  const DataInfo& info() const { return info_; }
  const std::string& name() const override { return info_.name; }
  std::int64_t size(Split split) const override { return info_.sizes[static_cast<int>(split)]; }
  std::int64_t sample_bytes(DType dtype) const override { return info_.image.bytes() * bytes_of(dtype); }
  std::vector<std::string> classes() const override { return info_.classes; }
  std::optional<PixelNorm> pixels() const override { return PixelNorm{info_.mean, info_.deviation}; }

 protected:
  explicit ImageSet(DataInfo info) : info_(std::move(info)) {}

  DataInfo info_;
};

/// Images with a label each.
class Dataset : public ImageSet {
 public:
  std::int64_t labels() const override { return 1; }
  Meaning meaning() const override {
    return {.classes = info_.classes, .mean = info_.mean, .deviation = info_.deviation};
  }
  /// Normalises from here on by what `known` says, as far as it says anything. Fails with Exit::Data for other
  /// channels.
  void normalise_by(const Meaning& known);
  /// Images are varied in training and normalised (train/data/augment.h).
  std::unique_ptr<SampleReader> reader(const ReadOptions& options) const override;
  /// Writes image `index` of the split as info().image.bytes() bytes and gives its label. Always the same for the same
  /// arguments; may be called from several threads. Fails with Exit::Data if the image cannot be read.
  virtual std::int32_t read(Split split, std::int64_t index, CropAt crop, std::uint8_t* pixels) const = 0;
  /// The same as it is stored, in whichever size.
  virtual std::int32_t read_whole(Split split, std::int64_t index, Image& image) const;

 protected:
  using ImageSet::ImageSet;
};

/// "; --set classes=3 gives a network of the zoo as many".
std::string set_hint(std::string_view key, std::int64_t count);

/// Takes one line for the user: how many images were found, a file whose MD5 is not the official one.
using Notify = std::function<void(const std::string& line)>;

/// Opens what `spec` names, for a network that takes such images and tells so many classes apart, whose labels and
/// pixels mean what `known` says:
///   mnist:DIR  cifar10:DIR  cifar100:DIR  imagefolder:DIR[,resize=N][,max-pixels=N]  shapes[:train=N,test=M]
///   synthetic[:N]
/// shapes, synthetic and imagefolder give images of the size asked for; the others fail (Exit::Data, both sizes in the
/// message) if theirs is another, as all do for another number of classes. Fails with Exit::Usage on an unknown spec,
/// with Exit::Data and the file's name on missing, damaged or contradictory files.
std::unique_ptr<Dataset> open_dataset(const std::string& spec, const ImageShape& image, std::int64_t classes,
                                      std::uint64_t seed, const Notify& notify = {}, const Meaning& known = {});

}  // namespace lethe
