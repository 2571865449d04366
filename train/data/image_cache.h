// A data set that is held in memory, as bytes. MNIST and CIFAR are read into it.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "train/data/dataset.h"

namespace lethe {

/// The images of one split, one after the other.
struct LabelledImages {
  std::vector<std::uint8_t> pixels = {};  // [count, height, width, channels]
  std::vector<std::uint8_t> labels = {};  // [count]
};

class ImageCache final : public Dataset {
 public:
  /// Sizes and held bytes of `info` are set from the images.
  ImageCache(DataInfo info, std::array<LabelledImages, 2> splits);
  std::int32_t read(Split split, std::int64_t index, CropAt crop, std::uint8_t* pixels) const override;

 private:
  std::array<LabelledImages, 2> splits_;
};

/// Fails with Exit::Data and the image's number on a label that is none of `classes`.
void check_labels(const std::vector<std::uint8_t>& labels, std::int64_t classes, const std::filesystem::path& path);

/// The readers of the stored formats, for open_dataset().
std::unique_ptr<Dataset> open_mnist(const std::filesystem::path& directory, const Notify& notify);
std::unique_ptr<Dataset> open_cifar10(const std::filesystem::path& directory, const Notify& notify);
std::unique_ptr<Dataset> open_cifar100(const std::filesystem::path& directory, const Notify& notify);

}  // namespace lethe
