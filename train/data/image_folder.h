// A folder of PNG and JPEG files, a class a folder: DIR/train/CLASS/* with DIR/test/CLASS/* (or DIR/val), or
// DIR/CLASS/* alone, of which every tenth file of a class, by name, is for tests.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "train/data/data_spec.h"
#include "train/data/dataset.h"

namespace lethe {

/// Files are decoded when they are read, so nothing is held but their names. Each image is scaled so that it just
/// covers `image` or as the options say, and then cropped. Grey images become coloured
/// and coloured ones grey as the network's channels (1 or 3) ask for. Classes are the folders for training, sorted, or
/// `known`, of which not all need have a folder.
std::unique_ptr<Dataset> open_image_folder(const std::filesystem::path& directory, const ImageShape& image,
                                           const FolderOptions& options, const std::vector<std::string>& known = {});

/// The PNG and JPEG files that stand in the directory, by name; hidden ones are passed over.
std::vector<std::filesystem::path> images_in(const std::filesystem::path& directory);

/// Writes the file as an image folder shows it: in the size and channels of `image`, scaled and cropped as above.
void read_image(const std::filesystem::path& file, const ImageShape& image, const FolderOptions& options, CropAt crop,
                std::uint8_t* pixels);

}  // namespace lethe
