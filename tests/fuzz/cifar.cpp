// CIFAR's binary files: the input's first byte says which of CIFAR-10's and CIFAR-100's files the rest is.
#include "tests/fuzz/fuzz.h"
#include "train/data/image_cache.h"

namespace lethe::fuzz::cifar_target {
namespace {

struct File {
  const char* name;
  std::size_t label_bytes;  // 0: names of classes
};
constexpr File kFiles[] = {{"data_batch_1.bin", 1}, {"test_batch.bin", 1}, {"batches.meta.txt", 0},
                           {"train.bin", 2},        {"test.bin", 2},       {"fine_label_names.txt", 0}};

std::string good(const File& file) {
  if (file.label_bytes == 0) return "cat\ndog\r\n\nship\n";
  return std::string(file.label_bytes, '\x04') + std::string(3072, '\x55');
}

void read_all(const Dataset& data) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(data.info().image.bytes()));
  for (const Split split : {Split::Train, Split::Test})
    for (std::int64_t i = 0; i < data.size(split); ++i) data.read(split, i, {}, pixels.data());
}

Material material() {
  Material all{.words = {"\n", "\r\n"}};
  for (std::size_t file = 0; file < std::size(kFiles); ++file) {
    all.seeds.push_back(static_cast<char>(file) + good(kFiles[file]));
    all.seeds.push_back(static_cast<char>(file) + good(kFiles[file]) + good(kFiles[file]));
  }
  return all;
}

void read_input(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  static Directory directory;
  const std::size_t chosen = data[0] % std::size(kFiles);
  for (std::size_t file = 0; file < std::size(kFiles); ++file)
    directory.put(kFiles[file].name, file == chosen ? text_of(data + 1, size - 1) : good(kFiles[file]));
  const auto open = chosen < 3 ? open_cifar10 : open_cifar100;
  reads({Exit::Data}, [&] { read_all(*open(directory.path(), 0, {})); });
}

const RegisterTarget target{{"cifar", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::cifar_target
