#include "train/data/image_folder.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "framework/error.h"
#include "train/data/data_files.h"
#include "train/data/held_out.h"
#include "train/data/image_file.h"
#include "train/data/photograph.h"
#include "train/data/samples.h"

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
using Splits = std::array<Files, 2>;

/// The ending of a file's name, in lower case.
std::string ending_of(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

bool is_image(const fs::path& path) {
  const std::string ending = ending_of(path);
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

/// The entries of a directory that pass the filter, by name; hidden entries are passed over.
template <class Filter>
std::vector<fs::path> listed(const fs::path& directory, const Filter& filter) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    if (!entry.path().filename().string().starts_with('.') && filter(entry)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The kind that an entry which is passed over counts as.
std::string kind_of(const fs::directory_entry& entry) {
  const std::string ending = ending_of(entry.path());
  if (!entry.is_regular_file()) return "folders or the like";
  if (ending.empty()) return "without an ending";
  return is_image(entry.path()) ? ending + " in no class folder" : ending;
}

void add(PassedOver& sum, const PassedOver& more) {
  for (const auto& [kind, count] : more) sum[kind] += count;
}

/// The folders that stand in a directory, by name; files are passed over and counted.
std::vector<std::string> folders_in(const fs::path& directory, PassedOver& others) {
  std::vector<std::string> names;
  const auto is_folder = [&](const fs::directory_entry& entry) {
    if (!entry.is_directory()) ++others[kind_of(entry)];
    return entry.is_directory();
  };
  for (const fs::path& path : listed(directory, is_folder)) names.push_back(path.filename().string());
  return names;
}

/// The files of the classes that have a folder here; a folder that is no class, or empty, is an error. Without classes
/// these become the folders.
Files files_of(const fs::path& directory, std::vector<std::string>& classes, PassedOver& others) {
  PassedOver beside;
  const std::vector<std::string> names = folders_in(directory, beside);
  check_as(Exit::Data, !names.empty(), "imagefolder: ", directory.string(), ": no class folders", text_of(beside), "; ",
           kExpected);
  add(others, beside);
  if (classes.empty()) classes = names;
  Files files;
  for (const std::string& name : names) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end())
      fail_as(Exit::Data, "imagefolder: ", (directory / name).string(),
              ": is none of the classes that are trained: ", joined(classes));
    PassedOver here;
    const std::vector<fs::path> paths = images_in(directory / name, here);
    check_as(Exit::Data, !paths.empty(), "imagefolder: ", (directory / name).string(),
             ": empty class folder, no .png, .jpg or .jpeg file in it", text_of(here));
    add(others, here);
    for (const fs::path& path : paths) files.push_back({path, static_cast<std::int32_t>(found - classes.begin())});
  }
  return files;
}

/// Every tenth file of each class to the second.
Splits divided(const Files& all, const fs::path& directory) {
  Splits splits;
  std::int64_t in_class = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    in_class = i > 0 && all[i].label == all[i - 1].label ? in_class + 1 : 1;
    splits[in_class % kTestEvery == 0].push_back(all[i]);
  }
  check_as(Exit::Data, !splits[1].empty(), "imagefolder: ", directory.string(), ": no class has ", kTestEvery,
           " images, so that one could be set aside for tests; ", kExpected, "; or write ,val=0.2 after the directory");
  return splits;
}

/// A share of the files, by their names, to the second.
Splits divided_by_name(const Files& all, const std::vector<std::string>& classes, double share) {
  Splits splits;
  for (const File& file : all)
    splits[is_held_out(classes[file.label] + '/' + file.path.filename().string(), share)].push_back(file);
  check_divided("imagefolder", std::ssize(splits[0]), std::ssize(splits[1]), share);
  return splits;
}

/// The files in the directory, as its folders and the options divide them, and the names of their classes.
Splits found_in(const fs::path& directory, double held_share, std::vector<std::string>& classes, PassedOver& others) {
  const fs::path training = directory / "train";
  const bool has_training = fs::is_directory(training);
  const fs::path first = has_training ? training : directory;
  const fs::path test = directory / (fs::is_directory(directory / "test") ? "test" : "val");
  const bool has_test = has_training && held_share == 0;
  check_as(Exit::Data, !has_test || fs::is_directory(test), "imagefolder: ", directory.string(),
           ": has train, but neither test nor val; ", kExpected, "; or write ,val=0.2 after the directory");
  if (has_training) folders_in(directory, others);
  const Files all = files_of(first, classes, others);
  if (held_share > 0) return divided_by_name(all, classes, held_share);
  if (has_test) return {all, files_of(test, classes, others)};
  return divided(all, directory);
}

/// Why a file cannot be decoded, or "".
std::string fault_in(const File& file, std::int64_t channels, const FolderOptions& options) {
  try {
    decode_image(file.path, channels, options.max_pixels);
    return "";
  } catch (const Error& error) {
    if (error.code != Exit::Data) throw;
    return error.what();
  }
}

/// The same of each file; by several threads, as decoding takes long.
std::vector<std::string> faults_in(const Files& files, std::int64_t channels, const FolderOptions& options) {
  std::vector<std::string> faults(files.size());
  std::vector<std::future<void>> tasks;
  std::atomic<std::size_t> next = 0;
  for (unsigned thread = 0; thread < std::max(std::thread::hardware_concurrency(), 1u); ++thread)
    tasks.push_back(std::async(std::launch::async, [&] {
      for (std::size_t i; (i = next++) < files.size();) faults[i] = fault_in(files[i], channels, options);
    }));
  for (std::future<void>& task : tasks) task.get();
  return faults;
}

/// Leaves out the files that cannot be decoded, with a line for each; fails if they are more than may be.
std::int64_t leave_out_bad(Splits& splits, std::int64_t channels, const FolderOptions& options, const Notify& notify) {
  std::int64_t bad = 0;
  for (Files& files : splits) {
    const std::vector<std::string> faults = faults_in(files, channels, options);
    Files good;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (faults[i].empty()) {
        good.push_back(files[i]);
        continue;
      }
      check_as(Exit::Data, ++bad <= options.skip_bad, faults[i], "; more files than `skip_bad` ", options.skip_bad,
               " cannot be read");
      if (notify) notify("left out: " + faults[i]);
    }
    files = std::move(good);
  }
  return bad;
}

/// "(ant 1, cat 2)", or of many classes "(16 to 24 in a class)".
std::string counts_by_class(const Files& files, const std::vector<std::string>& classes) {
  constexpr std::size_t kMostNamed = 10;
  std::vector<std::int64_t> counts(classes.size());
  for (const File& file : files) ++counts[file.label];
  const auto [least, most] = std::ranges::minmax_element(counts);
  if (classes.size() > kMostNamed) return message("(", *least, " to ", *most, " in a class)");
  std::string text;
  for (std::size_t c = 0; c < classes.size(); ++c) text += message(c > 0 ? ", " : "(", classes[c], ' ', counts[c]);
  return text + ")";
}

class ImageFolder final : public Dataset {
 public:
  ImageFolder(DataInfo info, Splits splits, const FolderOptions& options)
      : Dataset(std::move(info)), splits_(std::move(splits)), options_(options) {}

  std::int32_t read(Split split, std::int64_t index, CropAt crop, std::uint8_t* pixels) const override {
    return opened(split, index, [&](const fs::path& path) { read_image(path, info().image, options_, crop, pixels); });
  }
  std::int32_t read_whole(Split split, std::int64_t index, Image& image) const override {
    return opened(split, index, [&](const fs::path& path) {
      image = decode_image(path, info().image.channels, options_.max_pixels);
    });
  }

  void visit_labels(Split split, const LabelVisitor& visit) const override {
    const Files& files = splits_[static_cast<int>(split)];
    for (std::size_t i = 0; i < files.size(); ++i) visit(static_cast<std::int64_t>(i), {&files[i].label, 1});
  }

 private:
  template <class Read>
  std::int32_t opened(Split split, std::int64_t index, const Read& read) const {
    const File& file = splits_[static_cast<int>(split)][index];
    try {
      read(file.path);
    } catch (const Error& error) {
      if (error.code != Exit::Data) throw;
      throw Error(message(error.what(), "; `skip_bad` N leaves out up to N files like this"), Exit::Data);
    }
    return file.label;
  }

  Splits splits_;
  FolderOptions options_;
};

}  // namespace

std::string text_of(const PassedOver& entries) {
  std::string text;
  for (const auto& [ending, count] : entries)
    text += message(text.empty() ? "; passed over: " : ", ", count, ' ', ending);
  return text;
}

std::vector<fs::path> images_in(const fs::path& directory, PassedOver& others) {
  return listed(directory, [&](const fs::directory_entry& entry) {
    const bool is_taken = entry.is_regular_file() && is_image(entry.path());
    if (!is_taken) ++others[kind_of(entry)];
    return is_taken;
  });
}

std::unique_ptr<Dataset> open_image_folder(const fs::path& directory, const ImageShape& image,
                                           const FolderOptions& options, const Notify& notify,
                                           const std::vector<std::string>& known) {
  check_directory("imagefolder", directory, kExpected);
  check_shown("imagefolder", image, options);
  DataInfo info{.name = "imagefolder", .image = image};
  info.classes = known;
  PassedOver others;
  Splits splits = found_in(directory, options.val, info.classes, others);
  const std::int64_t bad = options.skip_bad > 0 ? leave_out_bad(splits, image.channels, options, notify) : 0;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    info.sizes[i] = std::ssize(splits[i]);
    for (const File& file : splits[i])
      info.held_bytes += static_cast<std::int64_t>(sizeof(File) + file.path.native().capacity());
  }
  if (notify)
    notify(message("imagefolder: ", directory.string(), ": classes: ", info.classes.size(),
                   "; images for training: ", splits[0].size(), ' ', counts_by_class(splits[0], info.classes),
                   ", for tests: ", splits[1].size(), ' ', counts_by_class(splits[1], info.classes),
                   bad > 0 ? message("; left out: ", bad) : "", text_of(others)));
  normalise_as_photographs(info);
  return std::make_unique<ImageFolder>(std::move(info), std::move(splits), options);
}

}  // namespace lethe
