// What the markers of a JPEG file say of it before it is decoded: this much does not depend on the decoder's version.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lethe {

struct JpegMarkers {
  bool tables_fit = true;  // no segment has Huffman tables of more than 256 codes
  bool ends = false;       // the image itself has its end marker; a thumbnail in it has one of its own
  std::vector<std::size_t> idle_restarts = {};  // where restart markers stand after which no data comes, ascending
  std::span<const std::uint8_t> exif = {};      // of the file's bytes: a TIFF header and what follows it
};

/// Whether decoders take it for a JPEG file.
bool begins_as_jpeg(std::span<const std::uint8_t> file);
/// Goes from marker to marker as decoders do, up to the image's end or that of the file, which begins as JPEG.
JpegMarkers markers_of(std::span<const std::uint8_t> file);

}  // namespace lethe
