// A data set that is held in memory, as bytes. MNIST and CIFAR are read into it.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "train/data/dataset.h"
#include "train/data/held_out.h"
#include "train/data/samples.h"

namespace lethe {

/// The images of one split, one after the other.
struct LabelledImages {
  std::vector<std::uint8_t> pixels = {};  // [count, height, width, channels]
  std::vector<std::int32_t> labels = {};  // [count]
};

class ImageCache final : public Dataset {
 public:
  /// Sizes and held bytes of `info` are set from the images. With `rows` both splits show images of the first, those in
  /// these rows.
  ImageCache(DataInfo info, std::array<LabelledImages, 2> splits, RowsOfSplits rows = {});
  std::int32_t read(Split split, std::int64_t index, CropAt crop, std::uint8_t* pixels) const override;

 private:
  std::array<LabelledImages, 2> splits_;
  RowsOfSplits rows_;
};

/// The images, of which tests show a share of the first split if one is held out.
std::unique_ptr<ImageCache> cached_images(DataInfo info, std::array<LabelledImages, 2> splits, double held_share);

/// Fails with Exit::Data, the image's number and the hint on a label that is none of `classes`.
void check_labels(const std::vector<std::int32_t>& labels, std::int64_t classes, const std::filesystem::path& path,
                  const std::string& hint = "");

/// These read the stored formats, for open_dataset(). If a share is held out, files for tests are not read. MNIST is
/// opened for a network that tells so many classes apart; if a run knows any (`known` > 0), it must have as many.
std::unique_ptr<Dataset> open_mnist(const std::filesystem::path& directory, std::int64_t classes, double held_share,
                                    const Notify& notify, std::int64_t known = 0);
std::unique_ptr<Dataset> open_cifar10(const std::filesystem::path& directory, double held_share, const Notify& notify);
std::unique_ptr<Dataset> open_cifar100(const std::filesystem::path& directory, double held_share, const Notify& notify);

}  // namespace lethe
