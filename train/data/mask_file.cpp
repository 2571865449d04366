// The format: PNG (ISO/IEC 15948), as far as masks need it.
#include "train/data/mask_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "framework/error.h"
#include "train/data/data_files.h"

namespace lethe {
namespace {

using PngBytes = std::span<const std::uint8_t>;
constexpr std::array<std::uint8_t, 8> kPngSignature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

std::uint32_t number_at(PngBytes bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | bytes[at + i];
  return number;
}

struct PngHeader {
  std::int64_t width = 0, height = 0;
  int depth = 0;                                                // bits of a pixel
  std::int64_t row() const { return (width * depth + 7) / 8; }  // bytes
};

class MaskDecoder {
 public:
  MaskDecoder(const std::filesystem::path& path, std::int64_t max_pixels) : path_(path), max_pixels_(max_pixels) {}

  MaskImage run() {
    read_chunks(read_file(path_));
    std::vector<std::uint8_t> rows = unpacked();
    undo_filters(rows);
    return pixels_of(rows);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { fail_as(Exit::Data, path_.string(), ": ", why); }

  /// Takes the header and the packed rows.
  void read_chunks(PngBytes file) {
    if (file.size() < kPngSignature.size() || !std::equal(kPngSignature.begin(), kPngSignature.end(), file.begin()))
      refuse("is no PNG file; masks are indexed or grey PNG files");
    constexpr std::size_t kFrame = 12;  // length and type before a chunk's data, a checksum after it
    bool ends = false;
    for (PngBytes left = file.subspan(kPngSignature.size()); !ends;) {
      if (left.size() < kFrame || number_at(left, 0) > left.size() - kFrame) refuse("PNG file ends early");
      const std::size_t length = number_at(left, 0);
      const std::string_view type(reinterpret_cast<const char*>(left.data()) + 4, 4);
      if (crc32(0, left.data() + 4, static_cast<uInt>(length + 4)) != number_at(left, length + 8))
        refuse(message("damaged PNG file: a part of it, ", quote(type), ", is not what its checksum says"));
      const PngBytes data = left.subspan(8, length);
      if ((header_.depth == 0) != (type == "IHDR")) refuse("PNG file without its header at the beginning");
      if (type == "IHDR") read_header(data);
      if (type == "IDAT") packed_.insert(packed_.end(), data.begin(), data.end());
      ends = type == "IEND";
      left = left.subspan(length + kFrame);
    }
  }

  void read_header(PngBytes data) {
    constexpr std::size_t kBytes = 13;
    constexpr int kGrey = 0, kIndexed = 3;
    if (data.size() != kBytes) refuse("PNG header of a wrong size");
    header_ = {.width = number_at(data, 0), .height = number_at(data, 4), .depth = data[8]};
    const int colour = data[9];
    if (colour != kGrey && colour != kIndexed)
      refuse("has colours, not classes: masks are PNG files that are indexed, or grey without transparency");
    if (header_.depth == 16) refuse("has 16 bits a pixel; masks have 8 at most");
    if (header_.depth != 1 && header_.depth != 2 && header_.depth != 4 && header_.depth != 8)
      refuse(message("PNG file with ", header_.depth, " bits a pixel"));
    if (data[12] != 0) refuse("is interlaced; masks are stored row by row");
    if (data[10] != 0 || data[11] != 0 || header_.width - 1 >= INT32_MAX || header_.height - 1 >= INT32_MAX ||
        header_.width == 0 || header_.height == 0)
      refuse("damaged PNG header");
    if (header_.width * header_.height > max_pixels_)
      refuse(message("has ", header_.width, " x ", header_.height, " pixels, more than ", max_pixels_,
                     "; after the data's directories ,max-pixels=N allows more"));
  }

  /// The rows, a byte for the filter before each.
  std::vector<std::uint8_t> unpacked() const {
    std::vector<std::uint8_t> rows(static_cast<std::size_t>(header_.height * (header_.row() + 1)));
    uLongf bytes = rows.size();
    const int status = uncompress(rows.data(), &bytes, packed_.data(), packed_.size());
    if (status == Z_BUF_ERROR && bytes == rows.size()) refuse("unpacks to more than its header says");
    if (status != Z_OK || bytes != rows.size()) refuse("damaged PNG file: its rows cannot be unpacked");
    return rows;
  }

  /// Each byte becomes what it was before it was taken from its neighbours: left, above, and above the left one.
  void undo_filters(std::vector<std::uint8_t>& rows) const {
    const auto row = static_cast<std::size_t>(header_.row());
    const std::vector<std::uint8_t> nothing(row);
    const std::uint8_t* above = nothing.data();
    for (std::size_t y = 0; y < static_cast<std::size_t>(header_.height); ++y) {
      std::uint8_t* const at = rows.data() + y * (row + 1) + 1;
      undo_filter(at[-1], above, at, row);
      above = at;
    }
  }

  void undo_filter(int filter, const std::uint8_t* above, std::uint8_t* at, std::size_t count) const {
    enum Filter : std::uint8_t { None, Sub, Up, Average, Paeth };
    if (filter > Paeth) refuse(message("damaged PNG file: a row with filter ", filter));
    for (std::size_t i = 0; i < count; ++i) {
      const int left = i > 0 ? at[i - 1] : 0, up = above[i], corner = i > 0 ? above[i - 1] : 0;
      const int by = filter == Sub       ? left
                     : filter == Up      ? up
                     : filter == Average ? (left + up) / 2
                     : filter == Paeth   ? nearest(left, up, corner)
                                         : 0;
      at[i] = static_cast<std::uint8_t>(at[i] + by);
    }
  }

  /// Which of the three is nearest to left + up - corner; the first of equals.
  static int nearest(int left, int up, int corner) {
    const int to_left = std::abs(up - corner), to_up = std::abs(left - corner),
              to_corner = std::abs(left + up - 2 * corner);
    if (to_left <= to_up && to_left <= to_corner) return left;
    return to_up <= to_corner ? up : corner;
  }

  MaskImage pixels_of(const std::vector<std::uint8_t>& rows) const {
    MaskImage mask{.height = header_.height, .width = header_.width};
    mask.values.reserve(static_cast<std::size_t>(mask.height * mask.width));
    const int in_byte = 8 / header_.depth, most = (1 << header_.depth) - 1;
    for (std::int64_t y = 0; y < mask.height; ++y) {
      const std::uint8_t* const row = rows.data() + y * (header_.row() + 1) + 1;
      for (std::int64_t x = 0; x < mask.width; ++x) {
        const int shift = 8 - header_.depth * (static_cast<int>(x % in_byte) + 1);
        mask.values.push_back(static_cast<std::uint8_t>(row[x / in_byte] >> shift & most));
      }
    }
    return mask;
  }

  const std::filesystem::path& path_;
  std::int64_t max_pixels_;
  PngHeader header_ = {};
  std::vector<std::uint8_t> packed_ = {};
};

}  // namespace

MaskImage decode_mask(const std::filesystem::path& path, std::int64_t max_pixels) {
  return MaskDecoder(path, max_pixels).run();
}

}  // namespace lethe
