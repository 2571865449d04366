#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "framework/error.h"
#include "train/data/data_files.h"
#include "train/data/held_out.h"
#include "train/data/image_file.h"
#include "train/data/image_folder.h"
#include "train/data/mask_file.h"
#include "train/data/masks.h"
#include "train/data/photograph.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBoth =
    "expected masks:IMAGES,MASKS, two folders with files of the same names but for the ending, or with train/ and "
    "test/ (or val/) in both";
constexpr std::int64_t kEveryTenth = 10;

struct Pair {
  fs::path image = {}, mask = {};
};
using Pairs = std::vector<Pair>;

/// By name without the ending, which no two may share.
std::map<std::string, fs::path> by_stem(const fs::path& directory) {
  check_directory("masks", directory, kBoth);
  PassedOver others;
  std::map<std::string, fs::path> files;
  for (const fs::path& path : images_in(directory, others)) {
    const auto [before, is_new] = files.emplace(path.stem().string(), path);
    check_as(Exit::Data, is_new, "masks: ", before->second.string(), " and ", path.filename().string(),
             ": the same name but for the ending, so that nobody knows which is meant");
  }
  return files;
}

struct FoundPairs {
  Pairs pairs = {};
  std::int64_t images = 0, masks = 0;  // without the other
};

FoundPairs pairs_in(const fs::path& images, const fs::path& masks) {
  FoundPairs found;
  std::map<std::string, fs::path> of_masks = by_stem(masks);
  for (const auto& [stem, image] : by_stem(images)) {
    const auto mask = of_masks.find(stem);
    if (mask == of_masks.end()) {
      ++found.images;
      continue;
    }
    found.pairs.push_back({image, mask->second});
    of_masks.erase(mask);
  }
  found.masks = std::ssize(of_masks);
  check_as(Exit::Data, !found.pairs.empty(), "masks: ", images.string(), " and ", masks.string(),
           ": no image has a mask of its name; ", kBoth);
  return found;
}

/// Pairs for training and for tests, as folders and the share that is held out divide them.
std::array<Pairs, 2> divided_pairs(const MasksSpec& spec, FoundPairs& all) {
  const fs::path images = spec.images, masks = spec.masks;
  check_directory("masks", images, kBoth);
  const bool has_training = fs::is_directory(images / "train"), held = spec.options.val > 0;
  all = has_training ? pairs_in(images / "train", masks / "train") : pairs_in(images, masks);
  if (has_training && !held) {
    const char* const test = fs::is_directory(images / "test") ? "test" : "val";
    FoundPairs tests = pairs_in(images / test, masks / test);
    all.images += tests.images, all.masks += tests.masks;
    return {std::move(all.pairs), std::move(tests.pairs)};
  }
  std::array<Pairs, 2> splits;
  for (std::size_t i = 0; i < all.pairs.size(); ++i) {
    const bool is_tenth = (static_cast<std::int64_t>(i) + 1) % kEveryTenth == 0;
    const bool is_test = held ? is_held_out(all.pairs[i].image.stem().string(), spec.options.val) : is_tenth;
    splits[is_test].push_back(std::move(all.pairs[i]));
  }
  if (held) check_divided("masks", std::ssize(splits[0]), std::ssize(splits[1]), spec.options.val);
  check_as(Exit::Data, !splits[1].empty(), "masks: ", spec.images, ": has fewer than ", kEveryTenth,
           " images with masks, so that none could be set aside for tests; write ,val=0.2 after the directories");
  return splits;
}

class MaskFolders final : public Masks {
 public:
  MaskFolders(DataInfo info, std::array<Pairs, 2> splits, const FolderOptions& options,
              std::optional<std::int64_t> ignored)
      : Masks(std::move(info)), splits_(std::move(splits)), options_(options), ignored_(ignored) {}

  void read(Split split, std::int64_t index, CropAt crop, std::uint8_t* pixels, std::int32_t* labels) const override {
    const Pair& pair = splits_[static_cast<int>(split)][static_cast<std::size_t>(index)];
    const Image image = decode_image(pair.image, info().image.channels, options_.max_pixels);
    const MaskImage mask = decode_mask(pair.mask, options_.max_pixels);
    check_as(Exit::Data, mask.height == image.shape.height && mask.width == image.shape.width, pair.mask.string(),
             ": is ", mask.height, "x", mask.width, ", its image ", pair.image.string(), " is ", image.shape.height,
             "x", image.shape.width);
    const Placement at = placement_of(image.shape, info().image, options_, crop);
    scale_and_crop(image, at.height, at.width, at.top, at.left, info().image, pixels);
    show(mask, pair.mask, at, labels);
  }

  void visit_labels(Split split, const LabelVisitor& visit) const override {
    std::vector<std::int32_t> shown(static_cast<std::size_t>(labels()));
    std::int64_t index = 0;
    for (const Pair& pair : splits_[static_cast<int>(split)]) {
      const MaskImage mask = decode_mask(pair.mask, options_.max_pixels);
      show(mask, pair.mask, placement_of({mask.height, mask.width, 1}, info().image, options_, {}), shown.data());
      visit(index++, shown);
    }
  }

 private:
  void show(const MaskImage& mask, const fs::path& file, const Placement& at, std::int32_t* labels) const {
    check_classes(mask, file);
    const auto source = [](std::int64_t target, std::int64_t from, std::int64_t to) {
      return (2 * target + 1) * from / (2 * to);  // where the middle of the target pixel lies
    };
    for (std::int64_t y = 0; y < info().image.height; ++y) {
      const std::uint8_t* const row = mask.values.data() + source(at.top + y, mask.height, at.height) * mask.width;
      for (std::int64_t x = 0; x < info().image.width; ++x) *labels++ = row[source(at.left + x, mask.width, at.width)];
    }
  }

  void check_classes(const MaskImage& mask, const fs::path& file) const {
    const std::int64_t classes = std::ssize(info().classes);
    const auto wrong = std::ranges::find_if(mask.values, [&](std::uint8_t v) { return v >= classes && v != ignored_; });
    if (wrong == mask.values.end()) return;
    const std::int64_t at = wrong - mask.values.begin();
    fail_as(Exit::Data, file.string(), ": the pixel at x ", at % mask.width, ", y ", at / mask.width, " is of class ",
            int{*wrong}, ", the network tells ", classes, " apart", set_hint("classes", int{*wrong} + 1),
            "; after the directories ,ignore=", int{*wrong}, " leaves such pixels out");
  }

  std::array<Pairs, 2> splits_;
  FolderOptions options_;
  std::optional<std::int64_t> ignored_;
};

std::string passed_over(const FoundPairs& found) {
  std::string text;
  if (found.images > 0) text += message("; images without a mask, passed over: ", found.images);
  if (found.masks > 0) text += message("; masks without an image: ", found.masks);
  return text;
}

}  // namespace

MasksSpec masks_spec(const DataSpec& spec) {
  const FolderSpec both = spec.folder();
  const std::string& places = both.directory;
  const std::size_t comma = places.find(',');
  if (comma == std::string::npos || comma == 0 || comma + 1 == places.size() || places.rfind(',') != comma)
    spec.reject("write two directories after a colon, with a comma between: masks:IMAGES,MASKS");
  MasksSpec masks{.images = places.substr(0, comma), .masks = places.substr(comma + 1), .options = both.options};
  if (const auto ignore = spec.options.find("ignore"); ignore != spec.options.end()) {
    masks.ignore = ignore->second == "0" ? 0 : spec.count(ignore->second);
    if (*masks.ignore > UINT8_MAX) spec.reject(message("ignore=", ignore->second, ": values of masks are 0 to 255"));
  }
  return masks;
}

std::unique_ptr<Masks> open_mask_folders(const MasksSpec& spec, const ImageShape& image, std::int64_t classes,
                                         std::optional<std::int64_t> ignored, const Notify& notify) {
  check_shown("masks", image, spec.options);
  check(!spec.ignore || spec.ignore == ignored, "masks: ignore=", spec.ignore.value_or(0),
        ": the network's loss does not ignore that label; \"ignore\" of the loss in its file says so");
  DataInfo info{.name = "masks", .image = image};
  for (std::int64_t c = 0; c < classes; ++c) info.classes.push_back(std::to_string(c));
  normalise_as_photographs(info);
  FoundPairs found;
  std::array<Pairs, 2> splits = divided_pairs(spec, found);
  for (std::size_t i = 0; i < splits.size(); ++i) {
    info.sizes[i] = std::ssize(splits[i]);
    for (const Pair& pair : splits[i])
      info.held_bytes +=
          static_cast<std::int64_t>(sizeof(Pair) + pair.image.native().capacity() + pair.mask.native().capacity());
  }
  if (notify)
    notify(message("masks: ", spec.images, ", ", spec.masks, ": images for training: ", splits[0].size(),
                   ", for tests: ", splits[1].size(), passed_over(found)));
  return std::make_unique<MaskFolders>(std::move(info), std::move(splits), spec.options, ignored);
}

}  // namespace lethe
