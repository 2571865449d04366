#include <gtest/gtest.h>

#include <filesystem>

#include "framework/error.h"
#include "tests/train/data_samples.h"
#include "train/data/dataset.h"

namespace lethe::testing {
namespace {

constexpr ImageShape kSmall{2, 3, 1};

/// Three training images and two test images of 2 x 3; pixel values count up.
void write_small_mnist(const TemporaryFolder& folder) {
  FileContent pixels(18);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(10 * i);
  folder.write("train-images-idx3-ubyte", idx({3, 2, 3}, pixels));
  folder.write("train-labels-idx1-ubyte", idx({3}, {7, 0, 9}));
  folder.write("t10k-images-idx3-ubyte", idx({2, 2, 3}, FileContent(12, 5)));
  folder.write("t10k-labels-idx1-ubyte", idx({2}, {1, 2}));
}

std::string refused_mnist(const TemporaryFolder& folder) { return refusal("mnist:" + folder.text(), kSmall, 10); }

TEST(Mnist, ReadsImagesAndLabels) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  const auto data = open_dataset("mnist:" + folder.text(), kSmall, 10, 0);
  EXPECT_EQ(data->size(Split::Train), 3);
  EXPECT_EQ(data->size(Split::Test), 2);
  EXPECT_EQ(data->info().held_bytes, 5 * (6 + 4));  // pixels and a label
  FileContent image(6);
  EXPECT_EQ(data->read(Split::Train, 2, {}, image.data()), 9);
  EXPECT_EQ(image, (FileContent{120, 130, 140, 150, 160, 170}));
  EXPECT_EQ(data->read(Split::Test, 1, {}, image.data()), 2);
  EXPECT_EQ(image, FileContent(6, 5));
}

TEST(Mnist, ReadsGzippedFilesToo) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  const FileContent pixels(18, 77);
  folder.remove("train-images-idx3-ubyte");
  folder.write("train-images-idx3-ubyte.gz", gzipped(idx({3, 2, 3}, pixels)));
  const auto data = open_dataset("mnist:" + folder.text(), kSmall, 10, 0);
  FileContent image(6);
  EXPECT_EQ(data->read(Split::Train, 0, {}, image.data()), 7);
  EXPECT_EQ(image, FileContent(6, 77));
}

TEST(Mnist, MissingDirectorySaysWhereToGetTheFilesAndTheirMd5) {
  const std::string text = refusal("mnist:/nowhere/mnist", {28, 28, 1}, 10);
  EXPECT_PRED2(says, text, "mnist: /nowhere/mnist: no such directory");
  EXPECT_PRED2(says, text, "https://");
  EXPECT_PRED2(says, text, "train-images-idx3-ubyte.gz (MD5 f68b3c2dcbeaaa9fbdd348bbdeb94873)");
  EXPECT_PRED2(says, text, "t10k-labels-idx1-ubyte.gz (MD5 ec29112dd5afa0611ce80d1b7f02629c)");
}

TEST(Mnist, MissingFileIsNamed) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  folder.remove("t10k-labels-idx1-ubyte");
  EXPECT_PRED2(says, refused_mnist(folder), "neither t10k-labels-idx1-ubyte nor t10k-labels-idx1-ubyte.gz");
}

TEST(Mnist, WrongMagicNumberIsRefused) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  folder.write("train-images-idx3-ubyte", idx({18}, FileContent(18)));
  EXPECT_PRED2(says, refused_mnist(folder),
               "train-images-idx3-ubyte: not an IDX file of bytes with 3 dimensions (magic "
               "number 2049, expected 2051)");
}

TEST(Mnist, TruncatedFileIsRefused) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  folder.write("train-images-idx3-ubyte", idx({3, 2, 3}, FileContent(17)));
  EXPECT_PRED2(says, refused_mnist(folder), "train-images-idx3-ubyte: 17 bytes of data, but its header says 3x2x3");
  folder.write("train-images-idx3-ubyte", FileContent{0, 0, 8});
  EXPECT_PRED2(says, refused_mnist(folder), "3 bytes are too few");
}

TEST(Mnist, HeaderOfImpossibleSizeIsRefusedBeforeMemoryIsTaken) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  folder.write("train-images-idx3-ubyte", idx({0xffffffff, 0xffffffff, 0xffffffff}, FileContent(18)));
  EXPECT_PRED2(says, refused_mnist(folder), "header says 4294967295x4294967295x4294967295");
}

TEST(Mnist, DamagedGzipIsRefused) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  folder.remove("train-images-idx3-ubyte");
  FileContent packed = gzipped(idx({3, 2, 3}, FileContent(18, 1)));
  const FileContent cut(packed.begin(), packed.end() - 9);
  folder.write("train-images-idx3-ubyte.gz", cut);
  EXPECT_PRED2(says, refused_mnist(folder), "train-images-idx3-ubyte.gz: gzip data ends early");
  packed[packed.size() - 6] ^= 1;  // in the checksum
  folder.write("train-images-idx3-ubyte.gz", packed);
  EXPECT_PRED2(says, refused_mnist(folder), "train-images-idx3-ubyte.gz: damaged gzip data");
}

TEST(Mnist, FilesThatGoOnAfterWhatTheHeaderSaysAreReadNoFurther) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  constexpr std::size_t kMuch = std::size_t{1} << 26;
  const std::string words = ": has more than 34 bytes, which is all that its header says";
  folder.write("train-images-idx3-ubyte", idx({3, 2, 3}, FileContent(19)));
  EXPECT_PRED2(says, refused_mnist(folder), "train-images-idx3-ubyte" + words);
  folder.remove("train-images-idx3-ubyte");
  for (const FileContent& more : {FileContent(19), FileContent(kMuch)}) {
    folder.write("train-images-idx3-ubyte.gz", gzipped(idx({3, 2, 3}, more)));
    EXPECT_PRED2(says, refused_mnist(folder), "train-images-idx3-ubyte.gz" + words);
  }
}

TEST(Mnist, LabelOutOfRangeIsRefused) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  folder.write("train-labels-idx1-ubyte", idx({3}, {7, 10, 9}));
  EXPECT_PRED2(says, refused_mnist(folder), "train-labels-idx1-ubyte: label of image 1 is 10, expected 0 to 9");
}

TEST(Mnist, ClassesAreAsManyAsTheLabelsOrTheNetworkSay) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  const std::string spec = "mnist:" + folder.text();
  folder.write("train-labels-idx1-ubyte", idx({3}, {46, 0, 9}));
  const auto balanced = open_dataset(spec, kSmall, 47, 0);  // as EMNIST's
  EXPECT_EQ(balanced->info().classes.size(), 47U);
  EXPECT_EQ(balanced->info().classes.back(), "46");
  EXPECT_EQ(refusal(spec, kSmall, 62),
            "mnist: has 47 classes, the network tells 62 apart; `set` classes=47 gives a network of the zoo as many");
  EXPECT_PRED2(says, refused_mnist(folder),
               "label of image 0 is 46, expected 0 to 9; `set` classes=47 gives a network of the zoo as many");
  folder.write("train-labels-idx1-ubyte", idx({3}, {1, 0, 2}));
  EXPECT_EQ(open_dataset(spec, kSmall, 3, 0)->info().classes.size(), 3U);
  EXPECT_EQ(open_dataset(spec, kSmall, 10, 0)->info().classes.size(), 10U);
}

TEST(Mnist, LabelsMayBeOfOtherNumbers) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  const auto labels_of = [&](std::uint8_t type, const FileContent& values, std::int64_t classes) {
    FileContent file = idx({3}, values);
    file[2] = type;
    folder.write("train-labels-idx1-ubyte", file);
    const auto data = open_dataset("mnist:" + folder.text(), kSmall, classes, 0);
    FileContent image(6);
    std::vector<std::int32_t> labels;
    for (int i = 0; i < 3; ++i) labels.push_back(data->read(Split::Train, i, {}, image.data()));
    return labels;
  };
  const std::vector<std::int32_t> expected = {7, 0, 9};
  EXPECT_EQ(labels_of(0x09, {7, 0, 9}, 10), expected);
  EXPECT_EQ(labels_of(0x0b, {0, 7, 0, 0, 0, 9}, 10), expected);
  EXPECT_EQ(labels_of(0x0c, {0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9}, 10), expected);
  EXPECT_EQ(labels_of(0x0b, {1, 0, 0, 3, 0, 9}, 257), (std::vector<std::int32_t>{256, 3, 9}));
  EXPECT_PRED2(says, error_from([&] { labels_of(0x0b, {0xff, 0xff, 0, 0, 0, 0}, 10); }), "label of image 0 is -1");
  EXPECT_PRED2(says, error_from([&] {
                 labels_of(0x0c, {0, 0, 0, 7}, 10);
               }),
               "4 bytes of data, but its header says 3 numbers of 4 bytes (truncated?)");
  EXPECT_PRED2(says, error_from([&] { labels_of(0x0d, FileContent(12), 10); }),
               "not an IDX file of whole numbers with 1 dimension (magic number 3329, expected 2049 or 2305 or 2817 or "
               "3073)");
}

TEST(Mnist, EmnistsFilesAreFoundByTheirEnds) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  for (const char* name : {"images-idx3-ubyte", "labels-idx1-ubyte"}) {
    std::filesystem::rename(folder.path() / message("train-", name),
                            folder.path() / message("emnist-letters-train-", name));
    std::filesystem::rename(folder.path() / message("t10k-", name),
                            folder.path() / message("emnist-letters-test-", name));
  }
  EXPECT_EQ(open_dataset("mnist:" + folder.text(), kSmall, 10, 0)->size(Split::Test), 2);
  folder.write("emnist-digits-train-images-idx3-ubyte", FileContent{});
  EXPECT_PRED2(says, refused_mnist(folder),
               "emnist-digits-train-images-idx3-ubyte and emnist-letters-train-images-idx3-ubyte are both like "
               "train-images-idx3-ubyte");
}

TEST(Mnist, OnlyAPlainFileOrElseItsPackedOneIsLikeAName) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  const FileContent packed = gzipped(idx({3, 2, 3}, FileContent(18, 77)));
  const auto first_pixel = [&] {
    FileContent image(6);
    open_dataset("mnist:" + folder.text(), kSmall, 10, 0)->read(Split::Train, 1, {}, image.data());
    return int{image[0]};
  };
  const std::string official = "train-images-idx3-ubyte", own = "emnist-letters-" + official;
  const auto rename = [&](const std::string& from, const std::string& to) {
    std::filesystem::rename(folder.path() / from, folder.path() / to);
  };
  rename(official, own);
  folder.write(own + ".gz", packed);
  EXPECT_EQ(first_pixel(), 60) << "of the plain file";
  for (const std::string& other : {official + "/x", official + ".gz/x", "emnist-digits-" + official + "/x"})
    folder.write(other, std::string("in a directory"));
  for (const std::string& other : {own + ".gz.part", own + ".part", own + "~"})
    folder.write(other, std::string("not that file"));
  EXPECT_EQ(first_pixel(), 60);
  folder.remove(own);
  EXPECT_EQ(first_pixel(), 77) << "of the packed one";
  folder.remove(own + ".gz");
  EXPECT_PRED2(says, refused_mnist(folder), "neither " + official + " nor " + official + ".gz is a file there; get");
}

TEST(Mnist, ARunsClassesAreThoseOfOtherFilesToo) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  const std::string spec = "mnist:" + folder.text();
  Meaning known;
  for (int c = 0; c < 47; ++c) known.classes.push_back(std::to_string(c));
  EXPECT_EQ(open_dataset(spec, kSmall, 47, 0, {}, known)->info().classes, known.classes) << "although 9 is the largest";
  folder.write("t10k-labels-idx1-ubyte", idx({2}, {47, 2}));
  EXPECT_EQ(
      error_from([&] { open_dataset(spec, kSmall, 47, 0, {}, known); }),
      folder.text() + "/t10k-labels-idx1-ubyte: label of image 0 is 47, expected 0 to 46, the classes of the run");
  known.classes.assign(10, "named otherwise");
  folder.write("t10k-labels-idx1-ubyte", idx({2}, {1, 2}));
  EXPECT_EQ(open_dataset(spec, kSmall, 10, 0, {}, known)->info().classes.back(), "9") << "which the run is held to";
}

TEST(Mnist, LabelsMustBeAsManyAsImages) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  folder.write("t10k-labels-idx1-ubyte", idx({3}, {1, 2, 3}));
  EXPECT_PRED2(says, refused_mnist(folder), "t10k-labels-idx1-ubyte: 3 labels for 2 images in t10k-images-idx3-ubyte");
}

TEST(Mnist, TestImagesOfAnotherSizeAreRefused) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  folder.write("t10k-images-idx3-ubyte", idx({2, 2, 2}, FileContent(8)));
  EXPECT_PRED2(says, refused_mnist(folder), "images are 2x2 with 1 channel, those for training 2x3 with 1 channel");
}

TEST(Mnist, NetworkOfAnotherImageSizeIsToldBothSizes) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  EXPECT_EQ(refusal("mnist:" + folder.text(), {32, 32, 3}, 10),
            "mnist: images are 2x3 with 1 channel, the network takes 32x32 with 3 channels");
  EXPECT_EQ(refusal("mnist:" + folder.text(), kSmall, 1000),
            "mnist: has 10 classes, the network tells 1000 apart; `set` classes=10 gives a network of the zoo as many");
}

TEST(Mnist, OtherDataThanTheOfficialGetsALineForEachFile) {
  const TemporaryFolder folder;
  write_small_mnist(folder);
  std::vector<std::string> lines;
  open_dataset("mnist:" + folder.text(), kSmall, 10, 0, [&](const std::string& line) { lines.push_back(line); });
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_PRED2(says, lines[0], "train-images-idx3-ubyte: MD5 ");
  EXPECT_PRED2(says, lines[0], "is not the official file's 6bbc9ace898e44ae57da46a324031adb");
}

TEST(Mnist, OfficialFilesAreRecognised) {
  if (real_data().empty()) GTEST_SKIP() << "LETHE_DATA is not set";
  std::vector<std::string> lines;
  const auto data = open_dataset("mnist:" + real_data() + "/mnist", {28, 28, 1}, 10, 0,
                                 [&](const std::string& line) { lines.push_back(line); });
  EXPECT_TRUE(lines.empty()) << lines.front();
  EXPECT_EQ(data->size(Split::Train), 60000);
  EXPECT_EQ(data->size(Split::Test), 10000);
  double sum = 0;
  FileContent image(784);
  for (std::int64_t i = 0; i < 60000; ++i) {
    data->read(Split::Train, i, {}, image.data());
    for (const std::uint8_t pixel : image) sum += pixel;
  }
  EXPECT_NEAR(sum / 255 / 784 / 60000, data->info().mean[0], 5e-5);
}

}  // namespace
}  // namespace lethe::testing
