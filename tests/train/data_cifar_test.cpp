#include <gtest/gtest.h>

#include "tests/train/data_samples.h"
#include "train/data/dataset.h"

namespace lethe::testing {
namespace {

constexpr ImageShape kImage{32, 32, 3};

/// One record: the label bytes, then planes in which red counts up, green is `label` and blue 200.
FileContent record(const FileContent& labels) {
  FileContent bytes = labels;
  for (int i = 0; i < 1024; ++i) bytes.push_back(static_cast<std::uint8_t>(i));
  bytes.insert(bytes.end(), 1024, labels.back());
  bytes.insert(bytes.end(), 1024, 200);
  return bytes;
}

FileContent operator+(FileContent a, const FileContent& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void write_small(const TemporaryFolder& folder) {
  folder.write("data_batch_1.bin", record({3}) + record({9}));
  folder.write("data_batch_4.bin", record({5}));
  folder.write("test_batch.bin", record({1}));
}

std::string refused(const TemporaryFolder& folder) { return refusal("cifar10:" + folder.text(), kImage, 10); }

TEST(Cifar, PlanesBecomeInterleavedChannels) {
  const TemporaryFolder folder;
  write_small(folder);
  const auto data = open_dataset("cifar10:" + folder.text(), kImage, 10, 0);
  FileContent image(3072);
  EXPECT_EQ(data->read(Split::Train, 1, {}, image.data()), 9);
  for (int i = 0; i < 1024; ++i) {
    ASSERT_EQ(image[3 * i], i % 256);
    ASSERT_EQ(image[3 * i + 1], 9);
    ASSERT_EQ(image[3 * i + 2], 200);
  }
}

TEST(Cifar, WhateverTrainingFilesAreThereAreRead) {
  const TemporaryFolder folder;
  write_small(folder);
  std::vector<std::string> lines;
  const auto data =
      open_dataset("cifar10:" + folder.text(), kImage, 10, 0, [&](const std::string& line) { lines.push_back(line); });
  EXPECT_EQ(data->size(Split::Train), 3);
  FileContent image(3072);
  EXPECT_EQ(data->read(Split::Train, 2, {}, image.data()), 5);
  ASSERT_EQ(lines.size(), 4u);  // the MD5 of three files, and
  EXPECT_EQ(lines.back(), "cifar10: 3 training images in 2 of 5 files, 1 test images in test_batch.bin");
}

TEST(Cifar, PartOfTheTestFileServesIfTheWholeIsMissing) {
  const TemporaryFolder folder;
  write_small(folder);
  folder.remove("test_batch.bin");
  folder.write("test_batch_few.bin", record({6}) + record({8}));
  const auto data = open_dataset("cifar10:" + folder.text(), kImage, 10, 0);
  EXPECT_EQ(data->size(Split::Test), 2);
  FileContent image(3072);
  EXPECT_EQ(data->read(Split::Test, 1, {}, image.data()), 8);
}

TEST(Cifar, ReadsTheFolderThatTheArchiveUnpacksTo) {
  const TemporaryFolder folder;
  folder.write("cifar-10-batches-bin/data_batch_1.bin", record({3}));
  folder.write("cifar-10-batches-bin/test_batch.bin", record({1}));
  EXPECT_EQ(open_dataset("cifar10:" + folder.text(), kImage, 10, 0)->size(Split::Train), 1);
}

TEST(Cifar, ClassNamesComeFromTheMetaFileIfItIsThere) {
  const TemporaryFolder folder;
  write_small(folder);
  EXPECT_EQ(open_dataset("cifar10:" + folder.text(), kImage, 10, 0)->info().classes[3], "3");
  folder.write("batches.meta.txt", "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n");
  EXPECT_EQ(open_dataset("cifar10:" + folder.text(), kImage, 10, 0)->info().classes[3], "cat");
}

TEST(Cifar, HundredClassesAreTheFineLabels) {
  const TemporaryFolder folder;
  folder.write("train.bin", record({11, 42}));
  folder.write("test.bin", record({1, 99}));
  const auto data = open_dataset("cifar100:" + folder.text(), kImage, 100, 0);
  FileContent image(3072);
  EXPECT_EQ(data->read(Split::Train, 0, {}, image.data()), 42);
  EXPECT_EQ(image[1], 42);
  EXPECT_EQ(data->read(Split::Test, 0, {}, image.data()), 99);
}

TEST(Cifar, MissingFilesSayWhereToGetThemAndTheMd5) {
  const std::string nowhere = refusal("cifar100:/nowhere", kImage, 100);
  EXPECT_PRED2(says, nowhere, "cifar100: /nowhere: no such directory");
  EXPECT_PRED2(says, nowhere, "cifar-100-binary.tar.gz (MD5 03b5dce01913d631647c71ecec9e9cb8)");
  const TemporaryFolder folder;
  const std::string empty = refused(folder);
  EXPECT_PRED2(says, empty, folder.text() + ": data_batch_1.bin is missing");
  EXPECT_PRED2(says, empty, "cifar-10-binary.tar.gz (MD5 c32a1d4ab5d03f1284b67883e8d87530)");
  EXPECT_PRED2(says, empty, "data_batch_1.bin to data_batch_5.bin and test_batch.bin");
  folder.write("data_batch_2.bin", record({1}));
  EXPECT_PRED2(says, refused(folder), "test_batch.bin is missing");
}

TEST(Cifar, FileOfPartialRecordsIsRefused) {
  const TemporaryFolder folder;
  write_small(folder);
  FileContent cut = record({1}) + record({2});
  cut.pop_back();
  folder.write("data_batch_1.bin", cut);
  EXPECT_PRED2(says, refused(folder),
               "data_batch_1.bin: 6145 bytes are not a whole number of records of 3073 bytes (truncated?)");
  folder.write("data_batch_1.bin", FileContent{});
  EXPECT_PRED2(says, refused(folder), "data_batch_1.bin: 0 bytes");
}

TEST(Cifar, LabelOutOfRangeIsRefused) {
  const TemporaryFolder folder;
  write_small(folder);
  folder.write("test_batch.bin", record({0}) + record({10}));
  EXPECT_PRED2(says, refused(folder), "test_batch.bin: label of image 1 is 10, expected 0 to 9");
}

TEST(Cifar, NetworkOfAnotherImageSizeIsToldBothSizes) {
  const TemporaryFolder folder;
  write_small(folder);
  EXPECT_EQ(refusal("cifar10:" + folder.text(), {224, 224, 3}, 10),
            "cifar10: images are 32x32 with 3 channels, the network takes 224x224 with 3 channels");
}

TEST(Cifar, OfficialFilesAreRecognised) {
  if (real_data().empty()) GTEST_SKIP() << "LETHE_DATA is not set";
  std::vector<std::string> lines;
  const auto data = open_dataset("cifar10:" + real_data() + "/cifar10", kImage, 10, 0,
                                 [&](const std::string& line) { lines.push_back(line); });
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_PRED2(says, lines[0], "cifar10: ");
  FileContent image(3072);
  std::vector<int> labels;
  for (int i = 0; i < 8; ++i) labels.push_back(data->read(Split::Test, i, {}, image.data()));
  EXPECT_EQ(labels, (std::vector<int>{3, 8, 8, 0, 6, 6, 1, 6}));
}

}  // namespace
}  // namespace lethe::testing
