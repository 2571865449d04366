// Text that a network learns character by character, plain or gzipped.
#include "tests/fuzz/fuzz.h"
#include "tests/train/data_samples.h"
#include "train/data/sequences.h"

namespace lethe::fuzz::text_file_target {
namespace {

constexpr std::int64_t kLength = 3;

void read_all(const std::string& file) {
  const std::unique_ptr<Sequences> text = open_text({.path = file}, kLength);
  std::int32_t symbols[kLength], labels[kLength];
  for (const Split split : {Split::Train, Split::Test})
    for (std::int64_t i = 0; i < text->size(split); ++i) text->read(split, i, symbols, labels);
}

Material material() {
  const std::string text = "the quick brown fox jumps over the lazy dog, and the dog does not mind";
  const testing::FileContent packed = testing::gzipped({text.begin(), text.end()});
  return {.seeds = {text, {packed.begin(), packed.end()}}, .words = {"\x1f\x8b\x08", std::string(32, 'a')}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static Directory directory;
  const std::string file = directory.put("text", text_of(data, size));
  reads({Exit::Data}, [&] { read_all(file); });
}

const RegisterTarget target{{"text_file", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::text_file_target
