#include "train/data/image_cache.h"

#include <cstring>
#include <utility>

#include "framework/error.h"

namespace lethe {
namespace {

std::int64_t size_in_bytes(const auto& numbers) { return std::ssize(numbers) * std::int64_t{sizeof numbers[0]}; }

DataInfo with_counts(DataInfo info, const std::array<LabelledImages, 2>& splits, const RowsOfSplits& rows) {
  for (std::size_t i = 0; i < splits.size(); ++i) {
    info.sizes[i] = rows[i].empty() ? std::ssize(splits[i].labels) : std::ssize(rows[i]);
    info.held_bytes += size_in_bytes(splits[i].labels) + size_in_bytes(splits[i].pixels) + size_in_bytes(rows[i]);
  }
  return info;
}

}  // namespace

ImageCache::ImageCache(DataInfo info, std::array<LabelledImages, 2> splits, RowsOfSplits rows)
    : Dataset(with_counts(std::move(info), splits, rows)), splits_(std::move(splits)), rows_(std::move(rows)) {}

std::int32_t ImageCache::read(Split split, std::int64_t index, CropAt, std::uint8_t* pixels) const {
  const std::vector<std::int32_t>& rows = rows_[static_cast<int>(split)];
  const LabelledImages& images = splits_[rows.empty() ? static_cast<int>(split) : 0];
  const std::int64_t row = rows.empty() ? index : rows[index], bytes = info().image.bytes();
  std::memcpy(pixels, images.pixels.data() + row * bytes, static_cast<std::size_t>(bytes));
  return images.labels[row];
}

std::unique_ptr<ImageCache> cached_images(DataInfo info, std::array<LabelledImages, 2> splits, double held_share) {
  RowsOfSplits rows;
  if (held_share > 0) rows = divided_rows(info.name, std::ssize(splits[0].labels), held_share);
  return std::make_unique<ImageCache>(std::move(info), std::move(splits), std::move(rows));
}

void check_labels(const std::vector<std::int32_t>& labels, std::int64_t classes, const std::filesystem::path& path,
                  const std::string& hint) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    check_as(Exit::Data, labels[i] >= 0 && labels[i] < classes, path.string(), ": label of image ", i, " is ",
             labels[i], ", expected 0 to ", classes - 1, hint);
}

}  // namespace lethe
