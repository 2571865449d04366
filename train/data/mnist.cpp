// MNIST and whatever else comes in its IDX files: four of them, each plain or gzipped. The format: a big-endian
// magic number (0x08 for bytes, then the number of dimensions), the dimensions, the bytes.
#include <algorithm>
#include <cctype>
#include <numeric>
#include <span>
#include <utility>

#include "framework/error.h"
#include "train/data/data_files.h"
#include "train/data/image_cache.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

struct OfficialIdx {
  std::string_view name, md5, packed_md5;  // unpacked; as distributed with .gz
};
constexpr OfficialIdx kImages[] = {
    {"train-images-idx3-ubyte", "6bbc9ace898e44ae57da46a324031adb", "f68b3c2dcbeaaa9fbdd348bbdeb94873"},
    {"t10k-images-idx3-ubyte", "2646ac647ad5339dbf082846283269ea", "9fb629c4189551a2d022fa330f9573f3"}};
constexpr OfficialIdx kLabels[] = {
    {"train-labels-idx1-ubyte", "a25bea736e30d166cdddb491f175f624", "d53e105ee54ea40749a09fcbcd1e9432"},
    {"t10k-labels-idx1-ubyte", "27ae3e4e09519cfbb04c329615203637", "ec29112dd5afa0611ce80d1b7f02629c"}};
constexpr std::int64_t kDigits = 10;

/// The types that a value in an IDX file may have; an image's has the first.
struct IdxNumbers {
  int code, bytes;
  bool is_signed;
};
constexpr IdxNumbers kIdxNumbers[] = {{0x08, 1, false}, {0x09, 1, true}, {0x0b, 2, true}, {0x0c, 4, true}};

std::string where_to_get() {
  std::string text = "get these from https://ossci-datasets.s3.amazonaws.com/mnist/ and put them there:";
  for (const auto* files : {kImages, kLabels})
    for (int split : {0, 1})
      text += message(files == kImages && split == 0 ? " " : ", ", files[split].name, ".gz (MD5 ",
                      files[split].packed_md5, ")");
  return text;
}

/// A file's name without what a set may call it otherwise: a number's type at its end, as in "labels-idx1-int", and
/// EMNIST's "test" for "t10k".
std::string plain_form(std::string name) {
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const auto is_of_type = [](unsigned char c) { return std::isalnum(c) != 0; };
  if (const std::size_t type = name.rfind('-'); type != std::string::npos && name.find("-idx") < type)
    if (std::all_of(name.begin() + static_cast<std::ptrdiff_t>(type) + 1, name.end(), is_of_type)) name.resize(type);
  if (const std::size_t test = name.find("test-"); test != std::string::npos) name.replace(test, 4, "t10k");
  return name;
}

/// Whether a packed file stands there unpacked, too.
bool is_unpacked(fs::path file) { return file.extension() == ".gz" && fs::is_regular_file(file.replace_extension()); }

/// The file of that name, or else the one that has it at its end, as EMNIST's "emnist-letters-train-images-idx3-ubyte";
/// the plain one before the packed one.
fs::path find(const fs::path& directory, std::string_view name) {
  for (const char* ending : {"", ".gz"})
    if (const fs::path path = directory / message(name, ending); fs::is_regular_file(path)) return path;
  const auto is_like = [own = plain_form(std::string(name))](const fs::directory_entry& entry) {
    return entry.is_regular_file() && plain_form(entry.path().filename().string()).ends_with(own);
  };
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    if (is_like(entry) && !is_unpacked(entry.path())) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  if (found.size() > 1)
    fail_as(Exit::Data, "mnist: ", directory.string(), ": ", found.front().filename().string(), " and ",
            found.back().filename().string(), " are both like ", name, "; a directory has one set");
  if (found.size() == 1) return found.front();
  fail_as(Exit::Data, "mnist: ", directory.string(), ": neither ", name, " nor ", name, ".gz is a file there; ",
          where_to_get());
}

struct Idx {
  fs::path path;
  IdxNumbers numbers;
  std::vector<std::int64_t> dims;
  std::vector<std::uint8_t> bytes;
};

std::uint32_t big_endian(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(at[0]) << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

/// The type of values by the magic number: bytes in images, any whole numbers in labels.
IdxNumbers numbers_of(const std::uint8_t* header, std::size_t rank, const std::string& path) {
  const std::uint32_t magic = big_endian(header);
  const bool has_labels = rank == 1;
  std::string expected;
  for (const IdxNumbers& numbers : std::span(kIdxNumbers).first(has_labels ? std::size(kIdxNumbers) : 1)) {
    const std::uint32_t own = (numbers.code << 8) + static_cast<std::uint32_t>(rank);
    if (magic == own) return numbers;
    expected += message(expected.empty() ? "" : " or ", own);
  }
  fail_as(Exit::Data, path, ": not an IDX file of ", has_labels ? "whole numbers" : "bytes", " with ", rank,
          " dimension", has_labels ? "" : "s", " (magic number ", magic, ", expected ", expected, ")");
}

std::vector<std::int64_t> dims_of(const std::uint8_t* header, std::size_t rank) {
  std::vector<std::int64_t> dims;
  for (std::size_t d = 1; d <= rank; ++d) dims.push_back(big_endian(header + 4 * d));
  return dims;
}

/// Counts in floating point, since four bytes each can exceed any integer.
double bytes_of(const IdxNumbers& numbers, const std::vector<std::int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), static_cast<double>(numbers.bytes),
                         [](double product, std::int64_t dim) { return product * static_cast<double>(dim); });
}

Idx read_idx(const fs::path& directory, const OfficialIdx& file, std::size_t rank, const Notify& notify) {
  Idx idx{.path = find(directory, file.name), .numbers = {}, .dims = {}, .bytes = {}};
  const std::string path = idx.path.string();
  const std::size_t header = 4 + 4 * rank;
  const auto bytes_told = [&](const std::uint8_t* front) {
    constexpr double kMost = 1e18;
    return header +
           static_cast<std::uint64_t>(std::min(bytes_of(numbers_of(front, rank, path), dims_of(front, rank)), kMost));
  };
  idx.bytes = read_file_unpacked(idx.path, {header, bytes_told, "which is all that its header says"});
  check_as(Exit::Data, idx.bytes.size() >= header, path, ": ", idx.bytes.size(),
           " bytes are too few for an IDX header");
  idx.numbers = numbers_of(idx.bytes.data(), rank, path);
  idx.dims = dims_of(idx.bytes.data(), rank);
  std::string dims;
  for (const std::int64_t dim : idx.dims) dims += message(dims.empty() ? "" : "x", dim);
  const std::size_t held = idx.bytes.size() - header;
  check_as(Exit::Data, static_cast<double>(held) == bytes_of(idx.numbers, idx.dims), path, ": ", held,
           " bytes of data, but its header says ", dims, idx.numbers.bytes > 1 ? " numbers of " : "",
           idx.numbers.bytes > 1 ? message(idx.numbers.bytes, " bytes") : "", " (truncated?)");
  compare_md5(idx.bytes, file.md5, idx.path, notify);
  idx.bytes.erase(idx.bytes.begin(), idx.bytes.begin() + static_cast<std::ptrdiff_t>(header));
  return idx;
}

/// The values of a file of labels, which are big-endian.
std::vector<std::int32_t> labels_in(const Idx& idx) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(idx.dims[0]));
  const int bytes = idx.numbers.bytes, above = 32 - 8 * bytes;  // bits of an int32 above the number's
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::uint32_t value = 0;
    for (int b = 0; b < bytes; ++b)
      value = value << 8 | idx.bytes[i * static_cast<std::size_t>(bytes) + static_cast<std::size_t>(b)];
    labels[i] =
        idx.numbers.is_signed ? static_cast<std::int32_t>(value << above) >> above : static_cast<std::int32_t>(value);
  }
  return labels;
}

/// A class for each label, or as many as the network tells apart where a set of ten at most has none of the last ones.
std::int64_t class_count(std::int64_t largest_label, std::int64_t of_network) {
  if (of_network > largest_label && of_network <= kDigits) return of_network;
  return std::max(largest_label + 1, kDigits);
}

}  // namespace

std::unique_ptr<Dataset> open_mnist(const fs::path& directory, std::int64_t classes, double held_share,
                                    const Notify& notify, std::int64_t known) {
  check_directory("mnist", directory, where_to_get());
  DataInfo info{.name = "mnist", .mean = {0.1307}, .deviation = {0.3081}};
  std::array<LabelledImages, 2> splits;
  std::int32_t largest = 0;
  for (std::size_t split = 0; split < (held_share > 0 ? 1 : splits.size()); ++split) {
    Idx images = read_idx(directory, kImages[split], 3, notify);
    const Idx labels = read_idx(directory, kLabels[split], 1, notify);
    check_as(Exit::Data, images.dims[0] > 0, images.path.string(), ": holds no images");
    check_as(Exit::Data, images.dims[0] == labels.dims[0], labels.path.string(), ": ", labels.dims[0], " labels for ",
             images.dims[0], " images in ", images.path.filename().string());
    const ImageShape shape{images.dims[1], images.dims[2], 1};
    check_as(Exit::Data, split == 0 || shape == info.image, images.path.string(), ": images are ", text_of(shape),
             ", those for training ", text_of(info.image));
    info.image = shape;
    splits[split] = {std::move(images.bytes), labels_in(labels)};
    const std::vector<std::int32_t>& numbers = splits[split].labels;
    largest = std::max(largest, *std::ranges::max_element(numbers));
    check_labels(numbers, known > 0 ? known : classes, labels.path,
                 known > 0 ? ", the classes of the run" : set_hint("classes", std::int64_t{largest} + 1));
  }
  const std::int64_t count = known > 0 ? known : class_count(largest, classes);
  for (std::int64_t c = 0; c < count; ++c) info.classes.push_back(std::to_string(c));
  return cached_images(std::move(info), std::move(splits), held_share);
}

}  // namespace lethe
