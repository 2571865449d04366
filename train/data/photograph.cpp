#include "train/data/photograph.h"

#include <algorithm>
#include <cmath>

#include "framework/error.h"
#include "framework/language/channel_order.h"

namespace lethe {
namespace {

/// The nearest of the positions 0 to `room`.
std::int64_t part(double share, std::int64_t room) {
  return std::min<std::int64_t>(static_cast<std::int64_t>(share * static_cast<double>(room + 1)), room);
}

}  // namespace

Placement placement_of(const ImageShape& from, const ImageShape& wanted, const FolderOptions& options, CropAt crop) {
  const auto high = static_cast<double>(from.height), wide = static_cast<double>(from.width);
  const double scale = options.resize > 0 ? static_cast<double>(options.resize) / std::min(high, wide)
                                          : std::max(static_cast<double>(wanted.height) / high,
                                                     static_cast<double>(wanted.width) / wide);
  const std::int64_t height = std::max<std::int64_t>(std::llround(high * scale), wanted.height);
  const std::int64_t width = std::max<std::int64_t>(std::llround(wide * scale), wanted.width);
  return {.height = height,
          .width = width,
          .top = part(crop.vertical, height - wanted.height),
          .left = part(crop.horizontal, width - wanted.width)};
}

void read_image(const std::filesystem::path& file, const ImageShape& wanted, const FolderOptions& options, CropAt crop,
                std::uint8_t* pixels) {
  const Image image = decode_image(file, wanted.channels, options.max_pixels);
  const Placement at = placement_of(image.shape, wanted, options, crop);
  scale_and_crop(image, at.height, at.width, at.top, at.left, wanted, pixels);
}

void check_shown(std::string_view set, const ImageShape& image, const FolderOptions& options) {
  check_as(Exit::Data, image.channels == 1 || image.channels == 3, set,
           ": gives images with 1 or 3 channels, the network takes ", image.channels,
           channel_order_hint({image.channels, image.height, image.width}));
  check(options.resize == 0 || options.resize >= std::max(image.height, image.width), set, ": resize=", options.resize,
        " is smaller than the network's images of ", text_of(image));
}

void normalise_as_photographs(DataInfo& info) {
  const bool grey = info.image.channels == 1;
  info.mean = grey ? std::vector<double>{0.449} : std::vector<double>{0.485, 0.456, 0.406};
  info.deviation = grey ? std::vector<double>{0.226} : std::vector<double>{0.229, 0.224, 0.225};
}

}  // namespace lethe
