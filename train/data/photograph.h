// How files of any size are shown to a network that takes images of one.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "train/data/data_spec.h"
#include "train/data/image_file.h"

namespace lethe {

/// What becomes of an image: it is scaled to height x width, and from (top, left) on a part of the wanted size is
/// shown.
struct Placement {
  std::int64_t height = 0, width = 0, top = 0, left = 0;
};
/// It just covers `wanted`, or its shorter side becomes what the options say; the crop says which part is shown.
Placement placement_of(const ImageShape& from, const ImageShape& wanted, const FolderOptions& options, CropAt crop);

/// Writes the file in the size and channels of `image`, scaled and cropped so.
void read_image(const std::filesystem::path& file, const ImageShape& image, const FolderOptions& options, CropAt crop,
                std::uint8_t* pixels);

/// Fails unless files can be shown in the channels of `image`, and in its size with the options of the set.
void check_shown(std::string_view set, const ImageShape& image, const FolderOptions& options);
/// By ImageNet's numbers, which natural images are near to; grey ones by those of its brightness.
void normalise_as_photographs(DataInfo& info);

}  // namespace lethe
