#include "train/data/exif.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace lethe {
namespace {

using ExifBytes = std::span<const std::uint8_t>;

constexpr int kUpright = 1, kLastOrientation = 8;

/// Numbers of a TIFF file, whose first two bytes say their order.
class TiffNumbers {
 public:
  explicit TiffNumbers(ExifBytes bytes) : bytes_(bytes), big_(!bytes.empty() && bytes[0] == 'M') {}
  /// Of `count` bytes; 0 where the file has not as many.
  std::uint32_t at(std::uint64_t offset, int count) const {
    if (offset + static_cast<std::uint64_t>(count) > bytes_.size()) return 0;
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8 | bytes_[offset + (big_ ? i : count - 1 - i)];
    return value;
  }

 private:
  ExifBytes bytes_;
  bool big_;
};

}  // namespace

int orientation_of(ExifBytes exif) {
  constexpr std::uint32_t kMagic = 42, kOrientation = 0x112, kShort = 3;
  const TiffNumbers numbers(exif);
  if (numbers.at(2, 2) != kMagic) return kUpright;
  const std::uint64_t directory = numbers.at(4, 4);
  const std::uint32_t entries = numbers.at(directory, 2);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::uint64_t entry = directory + 2 + 12 * std::uint64_t{i};  // tag, type, count, value
    if (numbers.at(entry, 2) != kOrientation || numbers.at(entry + 2, 2) != kShort) continue;
    const int stated = static_cast<int>(numbers.at(entry + 8, 2));
    return stated >= kUpright && stated <= kLastOrientation ? stated : kUpright;
  }
  return kUpright;
}

ExifBytes exif_of_png(ExifBytes file) {
  static constexpr std::array<std::uint8_t, 8> kSignature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  constexpr std::string_view kType = "eXIf";
  constexpr std::size_t kFrame = 12;  // length and type before a chunk's data, a checksum after it
  if (file.size() < kSignature.size() || !std::equal(kSignature.begin(), kSignature.end(), file.begin())) return {};
  for (ExifBytes left = file.subspan(kSignature.size()); left.size() >= kFrame;) {
    std::size_t length = 0;
    for (int i = 0; i < 4; ++i) length = length << 8 | left[static_cast<std::size_t>(i)];
    if (length > left.size() - kFrame) return {};
    if (std::equal(kType.begin(), kType.end(), left.begin() + 4)) return left.subspan(8, length);
    left = left.subspan(kFrame + length);
  }
  return {};
}

Image upright(Image image, int orientation) {
  if (orientation == kUpright) return image;
  const auto is_among = [&](std::initializer_list<int> those) {
    return std::ranges::find(those, orientation) != those.end();
  };
  const bool turned = orientation >= 5, from_below = is_among({3, 4, 6, 7}), from_right = is_among({2, 3, 7, 8});
  const auto [height, width, channels] = image.shape;
  Image made{.shape = {turned ? width : height, turned ? height : width, channels}, .pixels = {}};
  made.pixels.resize(image.pixels.size());
  std::uint8_t* to = made.pixels.data();
  for (std::int64_t y = 0; y < made.shape.height; ++y)
    for (std::int64_t x = 0; x < made.shape.width; ++x) {
      const std::int64_t row = turned ? x : y, column = turned ? y : x;
      const std::int64_t from =
          (from_below ? height - 1 - row : row) * width + (from_right ? width - 1 - column : column);
      to = std::copy_n(image.pixels.data() + from * channels, channels, to);
    }
  return made;
}

}  // namespace lethe
