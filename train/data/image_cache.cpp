#include "train/data/image_cache.h"

#include <cstring>
#include <utility>

#include "framework/error.h"

namespace lethe {
namespace {

DataInfo with_counts(DataInfo info, const std::array<LabelledImages, 2>& splits) {
  for (std::size_t i = 0; i < splits.size(); ++i) {
    info.sizes[i] = static_cast<std::int64_t>(splits[i].labels.size());
    info.held_bytes += info.sizes[i] + static_cast<std::int64_t>(splits[i].pixels.size());
  }
  return info;
}

}  // namespace

ImageCache::ImageCache(DataInfo info, std::array<LabelledImages, 2> splits)
    : Dataset(with_counts(std::move(info), splits)), splits_(std::move(splits)) {}

std::int32_t ImageCache::read(Split split, std::int64_t index, CropAt, std::uint8_t* pixels) const {
  const LabelledImages& images = splits_[static_cast<int>(split)];
  const std::int64_t bytes = info().image.bytes();
  std::memcpy(pixels, images.pixels.data() + index * bytes, static_cast<std::size_t>(bytes));
  return images.labels[index];
}

void check_labels(const std::vector<std::uint8_t>& labels, std::int64_t classes, const std::filesystem::path& path) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    check_as(Exit::Data, labels[i] < classes, path.string(), ": label of image ", i, " is ", int{labels[i]},
             ", expected 0 to ", classes - 1);
}

}  // namespace lethe
