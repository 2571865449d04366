// PNG and JPEG files, decoded in grey and in colour, and scaled.
#include "tests/fuzz/fuzz.h"
#include "tests/train/data_samples.h"
#include "train/data/image_file.h"

namespace lethe::fuzz::image_target {
namespace {

std::string string_of(const testing::FileContent& bytes) { return {bytes.begin(), bytes.end()}; }

void decode(const std::string& file, std::int64_t channels) {
  const Image image = decode_image(file, channels, 1 << 22);
  require(std::ssize(image.pixels) == image.shape.bytes(), "pixels and shape of an image agree");
  std::vector<std::uint8_t> window(static_cast<std::size_t>(8 * 8 * channels));
  scale_and_crop(image, 16, 12, 4, 2, {8, 8, channels}, window.data());
}

/// A scan by tables that the file does not have.
std::string without_tables() {
  std::string jpeg = string_of(testing::grey_jpeg());
  jpeg[jpeg.find("\xff\xda") + 6] = 0x33;
  return jpeg;
}

/// With restarts, the last of which is idle, and the orientation of a camera that was turned.
std::string photograph() {
  std::string jpeg = string_of(testing::two_halves_jpeg(true));
  jpeg.insert(jpeg.size() - 2, "\xff\xd1");
  const std::string exif(
      "\xff\xe1\0\x22"
      "Exif\0\0"
      "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0",
      36);
  return jpeg.insert(2, exif);
}

Material material() {
  return {.seeds = {without_tables(), photograph(), string_of(testing::png(2, 3, 1, testing::FileContent(6, 9))),
                    string_of(testing::png(5, 4, 3, testing::FileContent(60, 200))), string_of(testing::grey_jpeg())},
          .words = {"IHDR",     "IDAT",     "IEND",     "PLTE",     "tRNS",
                    "CgBI",     "eXIf",     "MM",       "II*",      "\x89PNG\r\n\x1a\n",
                    "\xff\xd8", "\xff\xd9", "\xff\xda", "\xff\xc0", "\xff\xc2",
                    "\xff\xc4", "\xff\xdb", "\xff\xdd", "\xff\xd7", "\xff\xe0",
                    "\xff\xe1", "\xff\xee"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static Directory directory;
  const std::string file = directory.put("image", text_of(data, size));
  for (const int channels : {1, 3}) reads({Exit::Data}, [&] { decode(file, channels); });
}

const RegisterTarget target{{"image", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::image_target
