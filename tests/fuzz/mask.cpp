// PNG files whose pixels are classes.
#include "tests/fuzz/fuzz.h"
#include "tests/train/data_samples.h"
#include "train/data/mask_file.h"

namespace lethe::fuzz::mask_target {
namespace {

std::string mask_of(const testing::MaskForm& form) {
  const testing::FileContent file = testing::mask_png(5, 3, {1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1}, form);
  return {file.begin(), file.end()};
}

void decode(const std::string& file) {
  const MaskImage mask = decode_mask(file, 1 << 20);
  require(std::ssize(mask.values) == mask.height * mask.width, "values and size of a mask agree");
}

Material material() {
  return {.seeds = {mask_of({}), mask_of({.depth = 1, .filter = 1}),
                    mask_of({.depth = 2, .indexed = false, .filter = 4}), mask_of({.depth = 4, .filter = 3})},
          .words = {"IHDR", "IDAT", "IEND", "PLTE", "tRNS", "\x89PNG\r\n\x1a\n"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static Directory directory;
  const std::string file = directory.put("mask", text_of(data, size));
  reads({Exit::Data}, [&] { decode(file); });
}

const RegisterTarget target{{"mask", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::mask_target
