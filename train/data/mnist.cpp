// MNIST and whatever else comes in its IDX files: four of them, each plain or gzipped. The format: a big-endian
// magic number (0x08 for bytes, then the number of dimensions), the dimensions, the bytes.
#include <algorithm>
#include <numeric>
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
constexpr std::int64_t kClasses = 10;

std::string where_to_get() {
  std::string text = "get these from https://ossci-datasets.s3.amazonaws.com/mnist/ and put them there:";
  for (const auto* files : {kImages, kLabels})
    for (int split : {0, 1})
      text += message(files == kImages && split == 0 ? " " : ", ", files[split].name, ".gz (MD5 ",
                      files[split].packed_md5, ")");
  return text;
}

fs::path find(const fs::path& directory, std::string_view name) {
  for (const char* ending : {"", ".gz"})
    if (const fs::path path = directory / message(name, ending); fs::exists(path)) return path;
  fail_as(Exit::Data, "mnist: ", directory.string(), ": neither ", name, " nor ", name, ".gz is there; ",
          where_to_get());
}

struct Idx {
  fs::path path;
  std::vector<std::int64_t> dims;
  std::vector<std::uint8_t> bytes;
};

std::uint32_t big_endian(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(at[0]) << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

std::vector<std::int64_t> dims_of(const std::uint8_t* header, std::size_t rank, const std::string& path) {
  const std::uint32_t magic = big_endian(header), expected = 0x0800u + static_cast<std::uint32_t>(rank);
  check_as(Exit::Data, magic == expected, path, ": not an IDX file of bytes with ", rank, " dimension",
           rank == 1 ? "" : "s", " (magic number ", magic, ", expected ", expected, ")");
  std::vector<std::int64_t> dims;
  for (std::size_t d = 1; d <= rank; ++d) dims.push_back(big_endian(header + 4 * d));
  return dims;
}

/// In floating point: four bytes each can exceed any integer.
double product_of(const std::vector<std::int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), 1.0,
                         [](double product, std::int64_t dim) { return product * static_cast<double>(dim); });
}

Idx read_idx(const fs::path& directory, const OfficialIdx& file, std::size_t rank, const Notify& notify) {
  Idx idx{.path = find(directory, file.name), .dims = {}, .bytes = {}};
  const std::string path = idx.path.string();
  const std::size_t header = 4 + 4 * rank;
  const auto bytes_told = [&](const std::uint8_t* front) {
    constexpr double kMost = 1e18;
    return header + static_cast<std::uint64_t>(std::min(product_of(dims_of(front, rank, path)), kMost));
  };
  idx.bytes = read_file_unpacked(idx.path, {header, bytes_told, "which is all that its header says"});
  check_as(Exit::Data, idx.bytes.size() >= header, path, ": ", idx.bytes.size(),
           " bytes are too few for an IDX header");
  idx.dims = dims_of(idx.bytes.data(), rank, path);
  std::string dims;
  for (const std::int64_t dim : idx.dims) dims += message(dims.empty() ? "" : "x", dim);
  const std::size_t held = idx.bytes.size() - header;
  check_as(Exit::Data, static_cast<double>(held) == product_of(idx.dims), path, ": ", held,
           " bytes of data, but its header says ", dims, " (truncated?)");
  compare_md5(idx.bytes, file.md5, idx.path, notify);
  idx.bytes.erase(idx.bytes.begin(), idx.bytes.begin() + static_cast<std::ptrdiff_t>(header));
  return idx;
}

}  // namespace

std::unique_ptr<Dataset> open_mnist(const fs::path& directory, const Notify& notify) {
  check_directory("mnist", directory, where_to_get());
  DataInfo info{.name = "mnist", .mean = {0.1307}, .deviation = {0.3081}};
  std::array<LabelledImages, 2> splits;
  for (int split : {0, 1}) {
    Idx images = read_idx(directory, kImages[split], 3, notify),
        labels = read_idx(directory, kLabels[split], 1, notify);
    check_as(Exit::Data, images.dims[0] > 0, images.path.string(), ": holds no images");
    check_as(Exit::Data, images.dims[0] == labels.dims[0], labels.path.string(), ": ", labels.dims[0], " labels for ",
             images.dims[0], " images in ", images.path.filename().string());
    check_labels(labels.bytes, kClasses, labels.path);
    const ImageShape shape{images.dims[1], images.dims[2], 1};
    check_as(Exit::Data, split == 0 || shape == info.image, images.path.string(), ": images are ", text_of(shape),
             ", those for training ", text_of(info.image));
    info.image = shape;
    splits[split] = {std::move(images.bytes), std::move(labels.bytes)};
  }
  for (std::int64_t c = 0; c < kClasses; ++c) info.classes.push_back(std::to_string(c));
  return std::make_unique<ImageCache>(std::move(info), std::move(splits));
}

}  // namespace lethe
