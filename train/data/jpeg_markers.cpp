#include "train/data/jpeg_markers.h"

#include <algorithm>
#include <string_view>

namespace lethe {
namespace {

using JpegBytes = std::span<const std::uint8_t>;

constexpr int kTables = 0xc4, kFirstRestart = 0xd0, kLastRestart = 0xd7, kBegin = 0xd8, kEnd = 0xd9, kApp1 = 0xe1;
constexpr std::string_view kExifHeading("Exif\0\0", 6);

/// Whether the Huffman tables from `at` on, in so many bytes, have at most 256 codes each. After the file's end are
/// zeros.
bool codes_fit(JpegBytes file, std::size_t at, std::int64_t bytes) {
  while (bytes > 0) {
    std::int64_t codes = 0;
    for (std::size_t i = at + 1; i < std::min(at + 17, file.size()); ++i) codes += file[i];
    if (codes > 256) return false;
    at += static_cast<std::size_t>(17 + codes);
    bytes -= 17 + codes;
  }
  return true;
}

/// Of the segment that begins at its length and has so many bytes: what EXIF says; empty if it is of something else.
JpegBytes exif_of(JpegBytes file, std::size_t at, std::size_t length) {
  const JpegBytes segment = file.subspan(at, std::min(length, file.size() - at));
  constexpr std::size_t kBefore = 2 + kExifHeading.size();
  if (segment.size() < kBefore || !std::equal(kExifHeading.begin(), kExifHeading.end(), segment.begin() + 2)) return {};
  return segment.subspan(kBefore);
}

}  // namespace

bool begins_as_jpeg(JpegBytes file) {
  const auto after_fill = std::ranges::find_if(file, [](int byte) { return byte != 0xff; });
  return after_fill != file.begin() && after_fill != file.end() && *after_fill == kBegin;
}

JpegMarkers markers_of(JpegBytes file) {
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

}  // namespace lethe
