// What PNG and JPEG files say of an image beside its pixels: where it ends, and how the camera was held.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "train/data/image_file.h"

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

/// The orientation that EXIF's facts (a TIFF header and its first directory) state, 1 to 8; 1, which is upright, where
/// they state none.
int orientation_of(std::span<const std::uint8_t> exif);
/// EXIF's facts in a PNG file; empty if it has none.
std::span<const std::uint8_t> exif_of_png(std::span<const std::uint8_t> file);
/// The image as it is to be looked at: turned and mirrored as the orientation says.
Image upright(Image image, int orientation);

}  // namespace lethe
