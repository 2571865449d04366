// MNIST's four IDX files, plain or gzipped. The input's first byte says which of them it is; the others are good.
#include "tests/fuzz/fuzz.h"
#include "tests/train/data_samples.h"
#include "train/data/image_cache.h"

namespace lethe::fuzz::mnist_target {
namespace {

constexpr const char* kFiles[] = {"train-images-idx3-ubyte", "t10k-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                  "t10k-labels-idx1-ubyte"};

std::string good(std::size_t file) {
  const testing::FileContent bytes =
      file < 2 ? testing::idx({2, 3, 4}, testing::FileContent(24, 7)) : testing::idx({2}, {3, 9});
  return {bytes.begin(), bytes.end()};
}

std::string packed(const std::string& text) {
  const testing::FileContent bytes = testing::gzipped({text.begin(), text.end()});
  return {bytes.begin(), bytes.end()};
}

void read_all(const std::string& directory) {
  const std::unique_ptr<Dataset> data = open_mnist(directory, 10, 0, {});
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(data->info().image.bytes()));
  for (const Split split : {Split::Train, Split::Test})
    for (std::int64_t i = 0; i < data->size(split); ++i) data->read(split, i, {}, pixels.data());
}

Material material() {
  Material all{.words = {std::string("\0\0\x08\x03", 4), std::string("\0\0\x08\x01", 4), std::string("\0\0\x0b\x01", 4),
                         std::string("\0\0\x0c\x01", 4), "\x1f\x8b\x08"}};
  for (std::size_t file = 0; file < std::size(kFiles); ++file)
    for (const std::string& content : {good(file), packed(good(file))})
      all.seeds.push_back(static_cast<char>(file) + content);
  return all;
}

void read_input(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  static Directory directory;
  for (std::size_t file = 0; file < std::size(kFiles); ++file)
    directory.put(kFiles[file], data[0] % std::size(kFiles) == file ? text_of(data + 1, size - 1) : good(file));
  reads({Exit::Data}, [] { read_all(directory.path()); });
}

const RegisterTarget target{{"mnist", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::mnist_target
