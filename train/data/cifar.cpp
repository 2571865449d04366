// CIFAR-10 and CIFAR-100 in their official binary form: records of one label byte (CIFAR-100: a coarse and a fine
// one), then 1024 bytes each of red, green and blue.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "framework/error.h"
#include "framework/host_memory.h"
#include "framework/text_input.h"
#include "train/data/data_files.h"
#include "train/data/image_cache.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

constexpr ImageShape kImage{32, 32, 3};
constexpr std::int64_t kPlane = 32 * 32;

struct OfficialBatch {
  std::string_view name, md5;
};

struct Format {
  std::string_view name, archive, archive_md5, folder;  // folder: what the archive unpacks to
  std::vector<OfficialBatch> training;
  OfficialBatch test;
  std::int64_t label_bytes;  // the last of them is the label
  std::int64_t classes;
  std::string_view class_file;
  std::vector<double> mean, deviation;  // over the 50,000 training images

  std::int64_t record() const { return label_bytes + kImage.bytes(); }
};

Format cifar10() {
  return {.name = "cifar10",
          .archive = "cifar-10-binary.tar.gz",
          .archive_md5 = "c32a1d4ab5d03f1284b67883e8d87530",
          .folder = "cifar-10-batches-bin",
          .training = {{"data_batch_1.bin", "5dd7e06a14cb22eb9f671a540d1b7c25"},
                       {"data_batch_2.bin", "5ea93a67294ea407fff1d09f752e9692"},
                       {"data_batch_3.bin", "942cd6a4bcdd0dd3c604fbe906cb4421"},
                       {"data_batch_4.bin", "ae636b3ba5c66a11e91e8cb52e771fcb"},
                       {"data_batch_5.bin", "53f37980c15c3d472c316c40844f3f0d"}},
          .test = {"test_batch.bin", "803d5f7f4d78ea53de84dbe85f74fb6d"},
          .label_bytes = 1,
          .classes = 10,
          .class_file = "batches.meta.txt",
          .mean = {0.4914, 0.4822, 0.4465},
          .deviation = {0.2470, 0.2435, 0.2616}};
}

Format cifar100() {
  return {.name = "cifar100",
          .archive = "cifar-100-binary.tar.gz",
          .archive_md5 = "03b5dce01913d631647c71ecec9e9cb8",
          .folder = "cifar-100-binary",
          .training = {{"train.bin", "6172c7755cfe09b2fe270c85cebc1b15"}},
          .test = {"test.bin", "4499cfba6c016c1be1438163640a0898"},
          .label_bytes = 2,
          .classes = 100,
          .class_file = "fine_label_names.txt",
          .mean = {0.5071, 0.4865, 0.4409},
          .deviation = {0.2673, 0.2564, 0.2762}};
}

std::string where_to_get(const Format& format) {
  return message("unpack ", format.archive, " (MD5 ", format.archive_md5,
                 ") from https://www.cs.toronto.edu/~kriz/cifar.html there; it holds ", format.training.front().name,
                 format.training.size() > 1 ? message(" to ", format.training.back().name) : "", " and ",
                 format.test.name);
}

/// The official test file, or else the first of those named like it: "test_batch_first1000.bin".
fs::path find_test(const Format& format, const fs::path& directory) {
  if (fs::exists(directory / format.test.name)) return directory / format.test.name;
  const std::string stem = fs::path(format.test.name).stem().string();
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    if (entry.path().filename().string().starts_with(stem) && entry.path().extension() == ".bin")
      found.push_back(entry.path());
  check_as(Exit::Data, !found.empty(), format.name, ": ", directory.string(), ": ", format.test.name, " is missing; ",
           where_to_get(format));
  return *std::min_element(found.begin(), found.end());
}

/// Appends the file's images, their planes interleaved.
void append(const Format& format, const fs::path& path, std::string_view md5, const Notify& notify,
            LabelledImages& images) {
  const std::int64_t bytes = size_of_file(path), records = bytes / format.record();
  check_as(Exit::Data, records > 0 && bytes == records * format.record(), path.string(), ": ", bytes,
           " bytes are not a whole number of records of ", format.record(), " bytes",
           records > 0 ? " (truncated?)" : "");
  const FileBytes file = read_file(path);
  if (!md5.empty()) compare_md5(file, md5, path, notify);
  std::vector<std::int32_t> labels(records);
  const std::size_t before = images.pixels.size(), size = before + static_cast<std::size_t>(records * kImage.bytes());
  taking(path.string(), static_cast<std::int64_t>(size), [&] { images.pixels.resize(size); });
  std::uint8_t* to = images.pixels.data() + before;
  for (std::int64_t r = 0; r < records; ++r) {
    const std::uint8_t* from = file.data() + r * format.record() + format.label_bytes;
    labels[r] = from[-1];
    for (std::int64_t p = 0; p < kPlane; ++p)
      for (std::int64_t c = 0; c < kImage.channels; ++c) *to++ = from[c * kPlane + p];
  }
  check_labels(labels, format.classes, path);
  images.labels.insert(images.labels.end(), labels.begin(), labels.end());
}

/// Reads a name from each line; gives numbers if the file is missing or has too few.
std::vector<std::string> class_names(const Format& format, const fs::path& directory) {
  std::vector<std::string> names;
  std::ifstream in(directory / format.class_file);
  std::istringstream file(rest_of(in, Exit::Data));
  for (std::string line; std::getline(file, line) && static_cast<std::int64_t>(names.size()) < format.classes;) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  if (static_cast<std::int64_t>(names.size()) == format.classes) return names;
  names.clear();
  for (std::int64_t c = 0; c < format.classes; ++c) names.push_back(std::to_string(c));
  return names;
}

std::unique_ptr<Dataset> open_cifar(const Format& format, fs::path directory, double held_share, const Notify& notify) {
  check_directory(format.name, directory, where_to_get(format));
  if (fs::is_directory(directory / format.folder)) directory /= format.folder;
  std::array<LabelledImages, 2> splits;
  std::size_t files = 0;
  for (const OfficialBatch& file : format.training)
    if (const fs::path path = directory / file.name; fs::exists(path)) {
      append(format, path, file.md5, notify, splits[0]);
      ++files;
    }
  check_as(Exit::Data, files > 0, format.name, ": ", directory.string(), ": ", format.training.front().name,
           " is missing; ", where_to_get(format));
  std::string found = message(format.name, ": ", splits[0].labels.size(), " training images in ", files, " of ",
                              format.training.size(), " files");
  if (held_share == 0) {
    const fs::path test = find_test(format, directory);
    append(format, test, test.filename() == format.test.name ? format.test.md5 : "", notify, splits[1]);
    found += message(", ", splits[1].labels.size(), " test images in ", test.filename().string());
  }
  DataInfo info{.name = std::string(format.name),
                .image = kImage,
                .classes = class_names(format, directory),
                .mean = format.mean,
                .deviation = format.deviation};
  std::unique_ptr<Dataset> data = cached_images(std::move(info), std::move(splits), held_share);
  if (held_share > 0) found += message(", ", data->size(Split::Test), " of which are held out");
  if (notify) notify(found);
  return data;
}

}  // namespace

std::unique_ptr<Dataset> open_cifar10(const fs::path& directory, double held_share, const Notify& notify) {
  return open_cifar(cifar10(), directory, held_share, notify);
}
std::unique_ptr<Dataset> open_cifar100(const fs::path& directory, double held_share, const Notify& notify) {
  return open_cifar(cifar100(), directory, held_share, notify);
}

}  // namespace lethe
