#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include "tests/train/data_samples.h"
#include "train/data/dataset.h"
#include "train/data/image_file.h"

namespace lethe::testing {
namespace {

constexpr ImageShape kTiny{2, 2, 1};

FileContent grey(std::uint8_t value) { return png(2, 2, 1, FileContent(4, value)); }

void write_small_folder(const TemporaryFolder& folder) {
  folder.write("train/cat/b.png", grey(20));
  folder.write("train/cat/a.PNG", grey(10));
  folder.write("train/ant/x.png", grey(30));
  folder.write("train/ant/notes.txt", "no image");
  folder.write("train/.hidden/x.png", grey(99));
  folder.write("test/cat/c.png", grey(40));
}

std::unique_ptr<Dataset> opened(const TemporaryFolder& folder, const ImageShape& image = kTiny,
                                std::int64_t classes = 2) {
  return open_dataset("imagefolder:" + folder.text(), image, classes, 0);
}

std::string refused_folder(const TemporaryFolder& folder, std::int64_t classes = 2) {
  return refusal("imagefolder:" + folder.text(), kTiny, classes);
}

FileContent image_in_folder(const Dataset& data, Split split, std::int64_t index, CropAt crop = {}) {
  FileContent pixels(data.info().image.bytes());
  data.read(split, index, crop, pixels.data());
  return pixels;
}

TEST(ImageFolder, ClassesAndFilesAreSortedByName) {
  const TemporaryFolder folder;
  write_small_folder(folder);
  const auto data = opened(folder);
  EXPECT_EQ(data->info().classes, (std::vector<std::string>{"ant", "cat"}));
  EXPECT_EQ(data->size(Split::Train), 3);
  EXPECT_EQ(data->size(Split::Test), 1);
  FileContent image(4);
  EXPECT_EQ(data->read(Split::Train, 0, {}, image.data()), 0);
  EXPECT_EQ(image, FileContent(4, 30));
  EXPECT_EQ(data->read(Split::Train, 1, {}, image.data()), 1);
  EXPECT_EQ(image, FileContent(4, 10));
  EXPECT_EQ(data->read(Split::Test, 0, {}, image.data()), 1);
  EXPECT_EQ(image, FileContent(4, 40));
}

TEST(ImageFolder, EveryTenthFileIsForTestsWhereThereIsOneFolder) {
  const TemporaryFolder folder;
  for (int i = 0; i < 25; ++i) folder.write("ant/" + std::to_string(100 + i) + ".png", grey(i));
  folder.write("bee/1.png", grey(50));
  const auto data = opened(folder);
  EXPECT_EQ(data->size(Split::Train), 24);
  EXPECT_EQ(data->size(Split::Test), 2);
  EXPECT_EQ(image_in_folder(*data, Split::Test, 0), FileContent(4, 9));
  EXPECT_EQ(image_in_folder(*data, Split::Test, 1), FileContent(4, 19));
  EXPECT_EQ(image_in_folder(*data, Split::Train, 9), FileContent(4, 10));
}

TEST(ImageFolder, GreyAndColourAreConvertedToTheNetworksChannels) {
  const TemporaryFolder folder;
  folder.write("train/a/grey.png", grey(90));
  folder.write("train/b/red.png", png(2, 2, 3, {255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0}));
  folder.write("val/a/grey.jpg", grey_jpeg());
  const auto coloured = opened(folder, {2, 2, 3});
  EXPECT_EQ(image_in_folder(*coloured, Split::Train, 0), FileContent(12, 90));
  EXPECT_EQ(image_in_folder(*coloured, Split::Test, 0), FileContent(12, 128));
  const auto plain = opened(folder);
  EXPECT_NEAR(image_in_folder(*plain, Split::Train, 1)[0], 0.3 * 255, 2);
}

TEST(ImageFolder, ImagesAreScaledToCoverTheNetworksAndCropped) {
  const TemporaryFolder folder;
  // 4 x 8 in squares of 2 x 2, so that half of it is 2 x 4: 0 10 20 30 over 40 50 60 70.
  FileContent pixels(32);
  for (int i = 0; i < 32; ++i) pixels[i] = static_cast<std::uint8_t>(i / 16 * 40 + i % 8 / 2 * 10);
  folder.write("train/a/wide.png", png(4, 8, 1, pixels));
  folder.write("test/a/wide.png", png(4, 8, 1, pixels));
  const auto data = opened(folder, kTiny, 1);
  const auto middle = image_in_folder(*data, Split::Train, 0), left = image_in_folder(*data, Split::Train, 0, {0, 0});
  const auto right = image_in_folder(*data, Split::Train, 0, {0.999, 0.999});
  // The filter's weights are 1 3 3 1; at the border they are 3 3 1: a seventh comes from the next square.
  EXPECT_NEAR(middle[0], 10 + 40 / 7., 1);
  EXPECT_NEAR(middle[1], 20 + 40 / 7., 1);
  EXPECT_NEAR(left[0], 10 / 7. + 40 / 7., 1);
  EXPECT_NEAR(right[1], 30 - 10 / 7. + 40 / 7., 1);
  EXPECT_NEAR(middle[2], 50 - 40 / 7., 1);
  const auto larger = open_dataset("imagefolder:" + folder.text() + ",resize=4", kTiny, 1, 0);
  EXPECT_EQ(image_in_folder(*larger, Split::Train, 0, {0, 0}), FileContent(4, 0));
  EXPECT_EQ(image_in_folder(*larger, Split::Train, 0, {0.999, 0.999}), FileContent(4, 70));
}

TEST(ImageFolder, ImagesOfTheNetworksSizeKeepEveryPixel) {
  const TemporaryFolder folder;
  FileContent pixels(7 * 5 * 3);
  std::iota(pixels.begin(), pixels.end(), 100);
  folder.write("train/a/x.png", png(7, 5, 3, pixels));
  folder.write("test/a/x.png", png(7, 5, 3, pixels));
  EXPECT_EQ(image_in_folder(*opened(folder, {7, 5, 3}, 1), Split::Train, 0), pixels);
}

TEST(ImageFolder, ShrinkingSkipsNoPixel) {
  const TemporaryFolder folder;
  FileContent stripes(64 * 64);
  for (std::size_t i = 0; i < stripes.size(); ++i) stripes[i] = i % 2 ? 255 : 0;
  folder.write("train/a/x.png", png(64, 64, 1, stripes));
  folder.write("test/a/x.png", png(64, 64, 1, stripes));
  for (const int pixel : image_in_folder(*opened(folder, kTiny, 1), Split::Train, 0)) EXPECT_NEAR(pixel, 128, 3);
}

TEST(ImageFolder, FileThatDoesNotDecodeIsNamed) {
  const TemporaryFolder folder;
  write_small_folder(folder);
  const auto message_of = [&](const FileContent& content) {
    folder.write("train/ant/x.png", content);
    const auto data = opened(folder);
    return error_from([&] { image_in_folder(*data, Split::Train, 0); });
  };
  FileContent cut = png(8, 8, 1, FileContent(64, 1));
  cut.resize(cut.size() - 20);
  EXPECT_PRED2(says, message_of(cut), "train/ant/x.png: cannot be decoded as PNG or JPEG");
  EXPECT_PRED2(says, message_of(FileContent(100, 'x')), "train/ant/x.png: cannot be decoded as PNG or JPEG");
  EXPECT_PRED2(says, message_of({}), "train/ant/x.png: 0 bytes are no PNG or JPEG file");
  FileContent jpeg = grey_jpeg();
  jpeg.resize(jpeg.size() - 2);
  EXPECT_PRED2(says, message_of(jpeg), "train/ant/x.png: JPEG file ends early");
  FileContent tables = grey_jpeg();
  const std::array<std::uint8_t, 2> huffman{0xff, 0xc4};
  const auto table = std::search(tables.begin(), tables.end(), huffman.begin(), huffman.end());
  std::fill_n(table + 5, 16, 255);  // after marker, length and number: how many codes of each length
  EXPECT_PRED2(says, message_of(tables), "train/ant/x.png: JPEG file with a Huffman table of more than 256 codes");
}

/// stb before 2.28 takes what its memory held before for such a table.
TEST(ImageFolder, JpegThatNamesTablesItHasNotIsDecodedByEmptyOnes) {
  const TemporaryFolder folder;
  write_small_folder(folder);
  FileContent jpeg = grey_jpeg();
  const std::array<std::uint8_t, 2> scan{0xff, 0xda};
  *(std::search(jpeg.begin(), jpeg.end(), scan.begin(), scan.end()) + 6) = 0x33;
  folder.write("train/ant/x.png", jpeg);
  const Image grey = decode_image(folder.path() / "train/ant/x.png", 1, 64);
  for (const int used : {0x00, 0xff}) {
    std::vector<std::unique_ptr<FileContent>> memory;
    for (int i = 0; i < 16; ++i) memory.push_back(std::make_unique<FileContent>(18000 + 128 * i, used));
    memory.clear();
    EXPECT_EQ(decode_image(folder.path() / "train/ant/x.png", 1, 64).pixels, grey.pixels);
  }
  EXPECT_EQ(grey.pixels, FileContent(64, 128));
}

TEST(ImageFolder, ImagesOfTooManyPixelsAreRefusedByTheirHeader) {
  const TemporaryFolder folder;
  write_small_folder(folder);
  FileContent huge = png(1, 1, 1, {0});
  for (const std::size_t side : {16U, 20U}) huge[side + 2] = 0x4e, huge[side + 3] = 0x20;  // 20000 x 20000
  folder.write("train/ant/x.png", huge);
  EXPECT_PRED2(says, error_from([&] { image_in_folder(*opened(folder), Split::Train, 0); }),
               "train/ant/x.png: has 20000 x 20000 pixels, more than 100000000");
  folder.write("train/ant/x.png", grey(30));
  const auto least = open_dataset("imagefolder:" + folder.text() + ",max-pixels=3,resize=2", kTiny, 2, 0);
  EXPECT_PRED2(says, error_from([&] { image_in_folder(*least, Split::Train, 0); }), "2 x 2 pixels, more than 3");
}

TEST(ImageFolder, AnImageThatUnpacksToMoreThanItsHeaderSaysIsRefused) {
  const TemporaryFolder folder;
  write_small_folder(folder);
  FileContent bomb = png(8192, 8192, 1, FileContent(std::size_t{1} << 26));
  for (const std::size_t side : {16U, 20U}) bomb[side + 2] = 0, bomb[side + 3] = 1;  // 1 x 1
  folder.write("train/ant/x.png", bomb);
  EXPECT_PRED2(says, error_from([&] { image_in_folder(*opened(folder), Split::Train, 0); }),
               "train/ant/x.png: cannot be decoded as PNG or JPEG (outofmem)");
}

TEST(ImageFolder, ALineSaysWhatWasFound) {
  const TemporaryFolder folder;
  write_small_folder(folder);
  folder.write("train/cat/d.webp", "RIFF");
  folder.write("train/ant/e.BMP", "BM");
  folder.write("test/cat/f.bmp", "BM");
  folder.write("test/cat/README", "one more");
  folder.write("test/cat/more/g.png", grey(1));
  std::vector<std::string> lines;
  open_dataset("imagefolder:" + folder.text(), kTiny, 2, 0, [&](const std::string& line) { lines.push_back(line); });
  EXPECT_EQ(lines, std::vector<std::string>{"imagefolder: " + folder.text() +
                                            ": classes: 2; images for training: 3 (ant 1, cat 2), for tests: 1 (ant 0, "
                                            "cat 1); passed over: 2 .bmp, 1 .txt, 1 .webp, 1 folders or the like, 1 "
                                            "without an ending"});
  for (int c = 0; c < 9; ++c)
    for (int i = 0; i <= c; ++i) folder.write("train/" + std::to_string(c) + '/' + std::to_string(i) + ".png", grey(1));
  open_dataset("imagefolder:" + folder.text(), kTiny, 11, 0, [&](const std::string& line) { lines.push_back(line); });
  EXPECT_PRED2(says, lines.back(), "images for training: 48 (1 to 9 in a class), for tests: 1 (0 to 1 in a class)");
}

TEST(ImageFolder, FilesBesideTheClassFoldersAreCountedToo) {
  const TemporaryFolder folder;
  write_small_folder(folder);
  folder.write("a.webp", "RIFF");
  folder.write("list.txt", "names");
  folder.write("train/b.png", grey(1));
  folder.write("test/c.PNG", grey(1));
  folder.write("test/d.png", grey(1));
  std::string line;
  const auto found = [&] {
    open_dataset("imagefolder:" + folder.text(), kTiny, 2, 0, [&](const std::string& said) { line = said; });
    return line.substr(line.find("; passed over"));
  };
  EXPECT_EQ(found(), "; passed over: 3 .png in no class folder, 2 .txt, 1 .webp");
  std::filesystem::rename(folder.path() / "train/ant", folder.path() / "ant");
  std::filesystem::rename(folder.path() / "train/cat", folder.path() / "cat");
  EXPECT_PRED2(says, refused_folder(folder),
               "/train: no class folders; passed over: 1 .png in no class folder; expected DIR/train/CLASS/");
  std::filesystem::remove_all(folder.path() / "train");
  std::filesystem::remove_all(folder.path() / "test");
  for (int i = 0; i < 10; ++i) folder.write("ant/" + std::to_string(i) + ".png", grey(1));
  EXPECT_EQ(found(), "; passed over: 2 .txt, 1 .webp");
}

TEST(ImageFolder, SomeBadFilesAreLeftOutIfThatIsAskedFor) {
  const TemporaryFolder folder;
  write_small_folder(folder);
  folder.write("train/ant/bad.png", "no image");
  folder.write("test/cat/bad.jpg", FileContent{0xff, 0xd8, 0xff});
  std::vector<std::string> lines;
  const auto open_with = [&](const std::string& option) {
    return open_dataset("imagefolder:" + folder.text() + option, kTiny, 2, 0,
                        [&](const std::string& line) { lines.push_back(line); });
  };
  const auto data = open_with(",skip-bad=2");
  EXPECT_EQ(data->size(Split::Train), 3);
  EXPECT_EQ(data->size(Split::Test), 1);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_PRED2(says, lines[0], "left out: " + folder.text() + "/train/ant/bad.png: cannot be decoded");
  EXPECT_PRED2(says, lines[1], "left out: " + folder.text() + "/test/cat/bad.jpg: ");
  EXPECT_PRED2(says, lines[2], "; left out: 2; passed over: 1 .txt");
  EXPECT_PRED2(says, error_from([&] { open_with(",skip-bad=1"); }), "bad.jpg: cannot be decoded as PNG or JPEG");
  EXPECT_PRED2(says, error_from([&] { open_with(",skip-bad=1"); }), "; more files than `skip_bad` 1 cannot be read");
  EXPECT_PRED2(says, error_from([&] { image_in_folder(*open_with(""), Split::Train, 0); }),
               "; `skip_bad` N leaves out up to N files like this");
}

TEST(ImageFolder, EmptyClassFolderIsRefused) {
  const TemporaryFolder folder;
  write_small_folder(folder);
  folder.write("train/dog/readme.md", "none yet");
  EXPECT_PRED2(says, refused_folder(folder, 3),
               "train/dog: empty class folder, no .png, .jpg or .jpeg file in it; passed over: 1 .md");
}

TEST(ImageFolder, FoldersThatDoNotMakeADataSetAreRefused) {
  const TemporaryFolder folder;
  EXPECT_PRED2(says, refusal("imagefolder:/nowhere", kTiny, 2), "imagefolder: /nowhere: no such directory");
  EXPECT_PRED2(says, refused_folder(folder), "no class folders; expected DIR/train/CLASS/");
  folder.write("ant/1.png", grey(1));
  EXPECT_PRED2(says, refused_folder(folder), "no class has 10 images");
  folder.write("train/ant/1.png", grey(1));
  EXPECT_PRED2(says, refused_folder(folder), "has train, but neither test nor val");
  folder.write("test/bee/1.png", grey(1));
  EXPECT_PRED2(says, refused_folder(folder), "test/bee: is none of the classes that are trained: ant");
}

TEST(ImageFolder, NetworksThatItCannotServeAreToldWhy) {
  const TemporaryFolder folder;
  write_small_folder(folder);
  const std::string spec = "imagefolder:" + folder.text();
  EXPECT_PRED2(says, refusal(spec, {2, 2, 4}, 2), "1 or 3 channels, the network takes 4");
  EXPECT_PRED2(says, refusal(spec, {32, 3, 32}, 2), "the network takes 32; shapes are [C,H,W]: is [3,32,32] meant?");
  EXPECT_PRED2(says, refusal(spec, kTiny, 5), "imagefolder: has 2 classes, the network tells 5 apart; `set` classes=2");
  EXPECT_PRED2(says, refusal(spec, {32, 32, 3}, 3), "`set` classes=2");
  EXPECT_PRED2(says, refusal(spec + ",resize=1", kTiny, 2, Exit::Usage), "resize=1 is smaller");
}

TEST(ImageFolder, RealPhotographsAreRead) {
  if (real_data().empty()) GTEST_SKIP() << "LETHE_DATA is not set";
  const auto photographs = open_dataset("imagefolder:" + real_data() + "/imagefolder/cifar10_jpg", {24, 28, 3}, 10, 0);
  EXPECT_EQ(photographs->size(Split::Train), 200);
  EXPECT_EQ(photographs->size(Split::Test), 50);
  double sum = 0;
  for (std::int64_t i = 0; i < 200; ++i)
    for (const std::uint8_t value : image_in_folder(*photographs, Split::Train, i)) sum += value;
  EXPECT_NEAR(sum / (200 * 24 * 28 * 3) / 255, 0.47, 0.03);
}

}  // namespace
}  // namespace lethe::testing
