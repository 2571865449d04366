// PNG files whose pixels are classes.
#include "tests/fuzz/fuzz.h"
#include "tests/train/data_samples.h"
#include "train/data/mask_file.h"

namespace lethe::fuzz {
namespace {

std::string mask_of(const testing::MaskForm& form) {
  const testing::FileContent file = testing::mask_png(5, 3, {1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1}, form);
  return {file.begin(), file.end()};
}

void decode(const std::string& file) {
  const MaskImage mask = decode_mask(file, 1 << 20);
  require(std::ssize(mask.values) == mask.height * mask.width, "values and size of a mask agree");
}

}  // namespace

Material material() {
  return {.seeds = {mask_of({}), mask_of({.depth = 1, .filter = 1}),
                    mask_of({.depth = 2, .indexed = false, .filter = 4}), mask_of({.depth = 4, .filter = 3})},
          .words = {"IHDR", "IDAT", "IEND", "PLTE", "tRNS", "\x89PNG\r\n\x1a\n"}};
}

}  // namespace lethe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static lethe::fuzz::Directory directory;
  const std::string file = directory.put("mask", lethe::fuzz::text_of(data, size));
  lethe::fuzz::reads({lethe::Exit::Data}, [&] { lethe::fuzz::decode(file); });
  return 0;
}
