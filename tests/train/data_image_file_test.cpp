// Single image files: of cameras, cut, of other formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "tests/train/data_samples.h"
#include "train/data/image_file.h"

namespace lethe::testing {
namespace {

constexpr int kMostTried = 1 << 20;

Image decoded_from(const FileContent& content, std::int64_t channels = 1) {
  const TemporaryFolder folder;
  folder.write("image", content);
  return decode_image(folder.path() / "image", channels, kMostTried);
}

std::string why_refused(const FileContent& content) {
  return error_from([&] { decoded_from(content); });
}

FileContent joined_bytes(std::initializer_list<FileContent> parts) {
  FileContent all;
  for (const FileContent& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// EXIF's facts: a directory with the orientation alone.
FileContent exif_with(std::uint8_t orientation, bool big_endian) {
  if (big_endian)
    return {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0};
  return {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0};
}

/// The JPEG file as a camera writes it: with facts of EXIF, and a thumbnail, a JPEG file too, among them.
FileContent of_camera(const FileContent& jpeg, std::uint8_t orientation, bool big_endian = true) {
  const FileContent facts = joined_bytes({{'E', 'x', 'i', 'f', 0, 0}, exif_with(orientation, big_endian), grey_jpeg()});
  const std::size_t length = facts.size() + 2;
  const FileContent head{
      0xff, 0xd8, 0xff, 0xe1, static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length)};
  return joined_bytes({head, facts, FileContent(jpeg.begin() + 2, jpeg.end())});
}

/// The PNG file with a chunk of EXIF's facts after its header.
FileContent with_exif(const FileContent& file, std::uint8_t orientation) {
  const FileContent facts = exif_with(orientation, true);
  const auto data = file.begin() + 33;
  return joined_bytes({FileContent(file.begin(), data),
                       {0, 0, 0, static_cast<std::uint8_t>(facts.size()), 'e', 'X', 'I', 'f'},
                       facts,
                       FileContent(4),
                       FileContent(data, file.end())});
}

TEST(ImageFile, APhotographIsTurnedAsItsOrientationSays) {
  const Image flat = decoded_from(two_halves_jpeg());
  ASSERT_EQ(flat.shape, (ImageShape{8, 16, 1}));
  EXPECT_EQ(flat.pixels[0], 128);
  EXPECT_EQ(flat.pixels[15], 178);
  EXPECT_EQ(decoded_from(of_camera(two_halves_jpeg(), 1)).pixels, flat.pixels);
  for (const bool big_endian : {true, false}) {
    const Image turned = decoded_from(of_camera(two_halves_jpeg(), 6, big_endian));
    ASSERT_EQ(turned.shape, (ImageShape{16, 8, 1}));
    EXPECT_EQ(turned.pixels.front(), 128);
    EXPECT_EQ(turned.pixels.back(), 178);
  }
  EXPECT_EQ(decoded_from(of_camera(two_halves_jpeg(), 8)).pixels.front(), 178);
  EXPECT_EQ(decoded_from(of_camera(two_halves_jpeg(), 9)).pixels, flat.pixels) << "an orientation that there is not";
}

TEST(ImageFile, EachOrientationIsWhatExifSays) {
  // 1 2 3 over 4 5 6, as it is stored; what is to be seen, row by row, in two channels alike.
  const std::map<int, FileContent> seen = {{1, {1, 2, 3, 4, 5, 6}}, {2, {3, 2, 1, 6, 5, 4}}, {3, {6, 5, 4, 3, 2, 1}},
                                           {4, {4, 5, 6, 1, 2, 3}}, {5, {1, 4, 2, 5, 3, 6}}, {6, {4, 1, 5, 2, 6, 3}},
                                           {7, {6, 3, 5, 2, 4, 1}}, {8, {3, 6, 2, 5, 1, 4}}};
  for (const auto& [orientation, pixels] : seen) {
    const Image image =
        decoded_from(with_exif(png(2, 3, 1, {1, 2, 3, 4, 5, 6}), static_cast<std::uint8_t>(orientation)));
    EXPECT_EQ(image.pixels, pixels) << orientation;
    EXPECT_EQ(image.shape, (orientation < 5 ? ImageShape{2, 3, 1} : ImageShape{3, 2, 1})) << orientation;
  }
  FileContent coloured(12);
  for (std::uint8_t i = 0; i < 12; ++i) coloured[i] = i;
  EXPECT_EQ(decoded_from(with_exif(png(2, 2, 3, coloured), 3), 3).pixels,
            (FileContent{9, 10, 11, 6, 7, 8, 3, 4, 5, 0, 1, 2}));
}

TEST(ImageFile, ACutPhotographIsRefusedAlthoughItsThumbnailHasAnEnd) {
  const FileContent whole = of_camera(two_halves_jpeg(), 1);
  for (std::size_t length = 3; length < whole.size(); ++length)
    EXPECT_NE(why_refused({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}), "") << length;
  EXPECT_PRED2(says, why_refused({whole.begin(), whole.end() - 3}), "JPEG file ends early");
}

TEST(ImageFile, ARestartMarkerBeforeTheEndIsReadOver) {
  const auto before_end = [](FileContent jpeg, const FileContent& more) {
    jpeg.insert(jpeg.end() - 2, more.begin(), more.end());
    return jpeg;
  };
  const FileContent pixels = decoded_from(two_halves_jpeg()).pixels;
  EXPECT_EQ(decoded_from(two_halves_jpeg(true)).pixels, pixels);
  for (const bool restarts : {false, true})
    for (const FileContent& more :
         {FileContent{0xff, 0xd0}, {0xff, 0xd1}, {0xff, 0xff, 0xd7}, {0xff, 0xd1, 0xff, 0xd2}})
      EXPECT_EQ(decoded_from(before_end(two_halves_jpeg(restarts), more)).pixels, pixels);
}

TEST(ImageFile, ManyIdleRestartMarkersTakeLittleTime) {
  const FileContent jpeg = grey_jpeg(), restart{0xff, 0xd0}, scan{0xff, 0xda};
  FileContent comment(2 + 0xffff);
  comment[0] = comment[2] = comment[3] = 0xff, comment[1] = 0xfe;
  const auto with = [&](int restarts) {
    FileContent more;
    for (int i = 0; i < restarts; ++i) more.insert(more.end(), restart.begin(), restart.end());
    for (int i = 0; i < 64; ++i) more.insert(more.end(), comment.begin(), comment.end());
    FileContent file = jpeg;
    file.insert(std::search(file.begin(), file.end(), scan.begin(), scan.end()), more.begin(), more.end());
    return file;
  };
  const auto seconds = [&](const FileContent& file) {
    const std::clock_t begin = std::clock();  // of the processor: the machine may be busy
    EXPECT_EQ(decoded_from(file).pixels, FileContent(64, 128));
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  EXPECT_LT(seconds(with(20000)), 0.02 + 10 * seconds(with(0)));
}

TEST(ImageFile, AnotherFormatIsNamed) {
  const auto beginning = [](const std::string& text) {
    FileContent content(64);
    std::copy(text.begin(), text.end(), content.begin());
    return content;
  };
  EXPECT_PRED2(says, why_refused(beginning("RIFF    WEBPVP8 ")),
               "image: is a WebP file; images are read from PNG and JPEG files");
  EXPECT_PRED2(says, why_refused(beginning("BM")), "image: is a BMP file");
  EXPECT_PRED2(says, why_refused(beginning("GIF89a")), "image: is a GIF file");
  EXPECT_PRED2(says, why_refused(beginning(std::string("II*\0", 4))), "image: is a TIFF file");
  EXPECT_PRED2(says, why_refused(beginning(std::string("\0\0\0 ftypheic", 12))), "image: is a HEIF file");
  EXPECT_PRED2(says, why_refused(beginning("text")), "cannot be decoded as PNG or JPEG");
}

}  // namespace
}  // namespace lethe::testing
