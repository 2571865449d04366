// A folder of PNG and JPEG files, a class a folder: DIR/train/CLASS/* with DIR/test/CLASS/* (or DIR/val), or
// DIR/CLASS/* alone, of which every tenth file of a class, by name, is for tests.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "train/data/data_spec.h"
#include "train/data/dataset.h"

namespace lethe {

/// Files are decoded when they are read, so nothing is held but their names; if the options let bad ones be left out,
/// each is decoded once before, too. Each image is scaled so that it just covers `image` or as the options say, and
/// then cropped. Grey images become coloured and coloured ones grey as the network's channels (1 or 3) ask for. With a
/// share held out, tests are that share of the training images, by a hash of CLASS/FILE. Classes are the folders for
/// training, sorted, or `known`, of which not all need have a folder. Gives a line of what it found.
std::unique_ptr<Dataset> open_image_folder(const std::filesystem::path& directory, const ImageShape& image,
                                           const FolderOptions& options, const Notify& notify,
                                           const std::vector<std::string>& known = {});

/// How many entries of a folder are no PNG or JPEG files, by their endings.
using PassedOver = std::map<std::string, std::int64_t>;
/// "; passed over: 3 .webp, 1 .txt", or "" for none.
std::string text_of(const PassedOver& entries);
/// The PNG and JPEG files that stand in the directory, by name. Hidden ones are passed over; others that are passed
/// over are counted.
std::vector<std::filesystem::path> images_in(const std::filesystem::path& directory, PassedOver& others);

}  // namespace lethe
