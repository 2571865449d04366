#include "train/data/image_headers.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace lethe {
namespace {

using HeaderBytes = std::span<const std::uint8_t>;

constexpr int kTables = 0xc4, kFirstRestart = 0xd0, kLastRestart = 0xd7, kBegin = 0xd8, kEnd = 0xd9, kApp1 = 0xe1;
constexpr std::string_view kExifHeading("Exif\0\0", 6);

/// Whether the Huffman tables from `at` on, in so many bytes, have at most 256 codes each. After the file's end are
/// zeros.
bool codes_fit(HeaderBytes file, std::size_t at, std::int64_t bytes) {
  while (bytes > 0) {
    std::int64_t codes = 0;
    for (std::size_t i = at + 1; i < std::min(at + 17, file.size()); ++i) codes += file[i];
    if (codes > 256) return false;
    at += static_cast<std::size_t>(17 + codes);
    bytes -= 17 + codes;
  }
  return true;
}

/// EXIF's facts in the segment that begins at its length and has so many bytes; empty if it is of something else.
HeaderBytes exif_of(HeaderBytes file, std::size_t at, std::size_t length) {
  const HeaderBytes segment = file.subspan(at, std::min(length, file.size() - at));
  constexpr std::size_t kBefore = 2 + kExifHeading.size();
  if (segment.size() < kBefore || !std::equal(kExifHeading.begin(), kExifHeading.end(), segment.begin() + 2)) return {};
  return segment.subspan(kBefore);
}

constexpr int kUpright = 1, kLastOrientation = 8;

/// Numbers of a TIFF file, whose first two bytes say their order.
class TiffNumbers {
 public:
  explicit TiffNumbers(HeaderBytes bytes) : bytes_(bytes), big_(!bytes.empty() && bytes[0] == 'M') {}
  /// The number of `count` bytes; 0 where the file has not as many.
  std::uint32_t at(std::uint64_t offset, int count) const {
    if (offset + static_cast<std::uint64_t>(count) > bytes_.size()) return 0;
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8 | bytes_[offset + (big_ ? i : count - 1 - i)];
    return value;
  }

 private:
  HeaderBytes bytes_;
  bool big_;
};

}  // namespace

bool begins_as_jpeg(HeaderBytes file) {
  const auto after_fill = std::ranges::find_if(file, [](int byte) { return byte != 0xff; });
  return after_fill != file.begin() && after_fill != file.end() && *after_fill == kBegin;
}

JpegMarkers markers_of(HeaderBytes file) {
  JpegMarkers found;
  std::vector<std::size_t> restarts;  // since the last byte of data
  for (std::size_t at = 0;;) {
    const auto index = [&](auto place) { return static_cast<std::size_t>(place - file.begin()); };
    const std::size_t mark = index(std::find(file.begin() + static_cast<std::ptrdiff_t>(at), file.end(), 0xff));
    const std::size_t named = index(std::find_if(file.begin() + static_cast<std::ptrdiff_t>(mark), file.end(),
                                                 [](int byte) { return byte != 0xff; }));
    if (named == file.size()) return found;
    const int marker = file[named];
    if (mark != at || marker == 0) restarts.clear();  // a zero says that 0xff is data
    at = named + 1;
    if (marker >= kFirstRestart && marker <= kLastRestart) restarts.push_back(named - 1);
    if (marker == 0 || (marker >= kFirstRestart && marker <= kBegin)) continue;  // which have no length
    found.idle_restarts.insert(found.idle_restarts.end(), restarts.begin(), restarts.end());
    restarts.clear();
    found.ends = marker == kEnd;
    if (found.ends || file.size() - at < 2) return found;
    const std::size_t length = static_cast<std::size_t>(file[at]) << 8 | file[at + 1];
    if (marker == kTables) found.tables_fit &= codes_fit(file, at + 2, static_cast<std::int64_t>(length) - 2);
    if (marker == kApp1 && found.exif.empty()) found.exif = exif_of(file, at, length);
    at += std::min(length, file.size() - at);
  }
}

int orientation_of(HeaderBytes exif) {
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

HeaderBytes exif_of_png(HeaderBytes file) {
  static constexpr std::array<std::uint8_t, 8> kSignature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  constexpr std::string_view kType = "eXIf";
  constexpr std::size_t kFrame = 12;  // length and type before a chunk's data, a checksum after it
  if (file.size() < kSignature.size() || !std::equal(kSignature.begin(), kSignature.end(), file.begin())) return {};
  for (HeaderBytes left = file.subspan(kSignature.size()); left.size() >= kFrame;) {
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
