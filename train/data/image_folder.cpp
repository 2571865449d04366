#include "train/data/image_folder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "framework/error.h"
#include "train/data/data_files.h"
#include "train/data/image_file.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExpected =
    "expected DIR/train/CLASS/ and DIR/test/CLASS/ (or DIR/val/CLASS/), or DIR/CLASS/, "
    "with .png, .jpg or .jpeg files";
constexpr std::int64_t kTestEvery = 10;  // of one folder for both

struct File {
  fs::path path = {};
  std::int32_t label = 0;
};
using Files = std::vector<File>;

bool is_image(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

/// What stands in a directory and passes the filter, by name; hidden entries are passed over.
template <class Filter>
std::vector<fs::path> listed(const fs::path& directory, const Filter& filter) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    if (!entry.path().filename().string().starts_with('.') && filter(entry)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> class_names(const fs::path& directory) {
  std::vector<std::string> names;
  for (const fs::path& path : listed(directory, [](const auto& entry) { return entry.is_directory(); }))
    names.push_back(path.filename().string());
  check_as(Exit::Data, !names.empty(), "imagefolder: ", directory.string(), ": no class folders; ", kExpected);
  return names;
}

/// The files of the classes that have a folder here; a folder that is no class, or empty, is an error.
Files files_of(const fs::path& directory, const std::vector<std::string>& classes) {
  Files files;
  for (const std::string& name : class_names(directory)) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    check_as(Exit::Data, found != classes.end(), "imagefolder: ", (directory / name).string(),
             ": is none of the classes that are trained: ", joined(classes));
    const std::vector<fs::path> paths = images_in(directory / name);
    check_as(Exit::Data, !paths.empty(), "imagefolder: ", (directory / name).string(),
             ": empty class folder, no .png, .jpg or .jpeg file in it");
    for (const fs::path& path : paths) files.push_back({path, static_cast<std::int32_t>(found - classes.begin())});
  }
  return files;
}

/// Every tenth file of each class to the second.
std::array<Files, 2> divided(const Files& all, const fs::path& directory) {
  std::array<Files, 2> splits;
  std::int64_t in_class = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    in_class = i > 0 && all[i].label == all[i - 1].label ? in_class + 1 : 1;
    splits[in_class % kTestEvery == 0].push_back(all[i]);
  }
  check_as(Exit::Data, !splits[1].empty(), "imagefolder: ", directory.string(), ": no class has ", kTestEvery,
           " images, so that one could be set aside for tests; ", kExpected);
  return splits;
}

/// The nearest of the positions 0 to `room`.
std::int64_t part(double share, std::int64_t room) {
  return std::min<std::int64_t>(static_cast<std::int64_t>(share * static_cast<double>(room + 1)), room);
}

class ImageFolder final : public Dataset {
 public:
  ImageFolder(DataInfo info, std::array<Files, 2> splits, const FolderOptions& options)
      : Dataset(std::move(info)), splits_(std::move(splits)), options_(options) {}

  std::int32_t read(Split split, std::int64_t index, CropAt crop, std::uint8_t* pixels) const override {
    const File& file = splits_[static_cast<int>(split)][index];
    read_image(file.path, info().image, options_, crop, pixels);
    return file.label;
  }

 private:
  std::array<Files, 2> splits_;
  FolderOptions options_;
};

}  // namespace

std::vector<fs::path> images_in(const fs::path& directory) {
  return listed(directory, [](const auto& entry) { return entry.is_regular_file() && is_image(entry.path()); });
}

void read_image(const fs::path& file, const ImageShape& wanted, const FolderOptions& options, CropAt crop,
                std::uint8_t* pixels) {
  const Image image = decode_image(file, wanted.channels, options.max_pixels);
  const auto high = static_cast<double>(image.shape.height), wide = static_cast<double>(image.shape.width);
  const double scale = options.resize > 0 ? static_cast<double>(options.resize) / std::min(high, wide)
                                          : std::max(static_cast<double>(wanted.height) / high,
                                                     static_cast<double>(wanted.width) / wide);
  const std::int64_t height = std::max<std::int64_t>(std::llround(high * scale), wanted.height);
  const std::int64_t width = std::max<std::int64_t>(std::llround(wide * scale), wanted.width);
  scale_and_crop(image, height, width, part(crop.vertical, height - wanted.height),
                 part(crop.horizontal, width - wanted.width), wanted, pixels);
}

std::unique_ptr<Dataset> open_image_folder(const fs::path& directory, const ImageShape& image,
                                           const FolderOptions& options, const std::vector<std::string>& known) {
  check_directory("imagefolder", directory, kExpected);
  check_as(Exit::Data, image.channels == 1 || image.channels == 3,
           "imagefolder: gives images with 1 or 3 channels, the network takes ", image.channels);
  check(options.resize == 0 || options.resize >= std::max(image.height, image.width),
        "imagefolder: resize=", options.resize, " is smaller than the network's images of ", text_of(image));
  DataInfo info{.name = "imagefolder", .image = image};
  std::array<Files, 2> splits;
  if (const fs::path training = directory / "train"; fs::is_directory(training)) {
    const fs::path test = directory / (fs::is_directory(directory / "test") ? "test" : "val");
    check_as(Exit::Data, fs::is_directory(test), "imagefolder: ", directory.string(),
             ": has train, but neither test nor val; ", kExpected);
    info.classes = known.empty() ? class_names(training) : known;
    splits = {files_of(training, info.classes), files_of(test, info.classes)};
  } else {
    info.classes = known.empty() ? class_names(directory) : known;
    splits = divided(files_of(directory, info.classes), directory);
  }
  for (std::size_t i = 0; i < splits.size(); ++i) {
    info.sizes[i] = std::ssize(splits[i]);
    for (const File& file : splits[i])
      info.held_bytes += static_cast<std::int64_t>(sizeof(File) + file.path.native().capacity());
  }
  // ImageNet's, which natural images are near to; for grey ones, of its brightness.
  const bool grey = image.channels == 1;
  info.mean = grey ? std::vector<double>{0.449} : std::vector<double>{0.485, 0.456, 0.406};
  info.deviation = grey ? std::vector<double>{0.226} : std::vector<double>{0.229, 0.224, 0.225};
  return std::make_unique<ImageFolder>(std::move(info), std::move(splits), options);
}

}  // namespace lethe
