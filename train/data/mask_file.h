// One PNG file whose pixels are numbers of classes.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace lethe {

struct MaskImage {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> values = {};  // [height, width]
};

/// Decodes an indexed PNG as its indices, whatever its palette shows, and a grey one as its values, as they are stored,
/// of 1, 2, 4 or 8 bits. Fails with Exit::Data and the path on any other file, on one with colours, 16 bits or
/// interlaced rows, on damaged files, and on those with more than `max_pixels`.
MaskImage decode_mask(const std::filesystem::path& path, std::int64_t max_pixels);

}  // namespace lethe
