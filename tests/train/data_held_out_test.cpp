// A share held out of sets in files, `,val=X`: by name or row.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "framework/error.h"
#include "tests/train/data_samples.h"
#include "train/data/held_out.h"
#include "train/data/labelled_texts.h"
#include "train/data/samples.h"
#include "train/data/sequences.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kRows = 200;
constexpr double kHeldShare = 0.3;

/// Which rows tests show, and that training shows all others; `row_at` tells a sample's row.
template <class RowAt>
std::set<std::int64_t> held_rows(const Samples& data, const RowAt& row_at) {
  std::array<std::set<std::int64_t>, 2> rows;
  for (const Split split : {Split::Train, Split::Test})
    for (std::int64_t i = 0; i < data.size(split); ++i) rows[static_cast<std::size_t>(split)].insert(row_at(split, i));
  EXPECT_EQ(data.size(Split::Train) + data.size(Split::Test), kRows);
  EXPECT_EQ(std::ssize(rows[0]) + std::ssize(rows[1]), kRows) << "a row is there once";
  for (const std::int64_t row : rows[1]) EXPECT_EQ(rows[0].count(row), 0U);
  return rows[1];
}

std::set<std::int64_t> expected_rows() {
  std::set<std::int64_t> rows;
  for (std::int64_t row = 0; row < kRows; ++row)
    if (is_held_out(row, kHeldShare)) rows.insert(row);
  return rows;
}

constexpr ImageShape kFlatImage{2, 2, 1};

FileContent flat_png(std::uint8_t value) { return png(2, 2, 1, FileContent(4, value)); }

TEST(HeldOut, IsAFixedFunctionOfTheNameThatTakesTheShare) {
  EXPECT_FALSE(is_held_out("ant/1.png", 0));
  EXPECT_TRUE(is_held_out("ant/1.png", 1));
  for (const double share : {0.1, 0.5}) {
    int names = 0, rows = 0;
    for (int i = 0; i < 10000; ++i) {
      names += is_held_out("ant/" + std::to_string(i) + ".png", share);
      rows += is_held_out(std::int64_t{i}, share);
      EXPECT_TRUE(!is_held_out(std::int64_t{i}, 0.1) || is_held_out(std::int64_t{i}, 0.5)) << "more has less in it";
    }
    EXPECT_NEAR(names, 10000 * share, 200);  // four deviations
    EXPECT_NEAR(rows, 10000 * share, 200);
  }
  // Runs that are resumed rely on these.
  std::string held;
  for (int i = 0; i < 40; ++i) held += is_held_out(std::int64_t{i}, 0.2) ? '1' : '0';
  EXPECT_EQ(held, "0000011000010000000001001001010000000000");
}

TEST(HeldOut, ImagesOfAFolderAreChosenByTheirNames) {
  const TemporaryFolder folder;
  for (const char* name : {"ant/", "bee/"})
    for (int i = 0; i < 100; ++i)
      folder.write(name + std::to_string(i) + ".png", flat_png(static_cast<std::uint8_t>(i)));
  const auto held = [&] {
    const auto data = open_dataset("imagefolder:" + folder.text() + ",val=0.25", kFlatImage, 2, 0);
    EXPECT_EQ(data->size(Split::Train) + data->size(Split::Test), 200);
    std::set<std::pair<int, int>> images;
    FileContent image(4);
    for (std::int64_t i = 0; i < data->size(Split::Test); ++i) {
      const int label = data->read(Split::Test, i, {}, image.data());
      images.emplace(label, image[0]);
    }
    return images;
  };
  const auto first = held();
  EXPECT_NEAR(static_cast<double>(first.size()), 50, 18);  // three deviations
  EXPECT_EQ(held(), first);
}

TEST(HeldOut, AreImagesForTrainingAndNoFolderForTestsIsNeeded) {
  const TemporaryFolder folder;
  for (int i = 0; i < 20; ++i) folder.write("train/ant/" + std::to_string(i) + ".png", flat_png(7));
  const std::string spec = "imagefolder:" + folder.text();
  EXPECT_PRED2(says, refusal(spec, kFlatImage, 1), "has train, but neither test nor val");
  EXPECT_PRED2(says, refusal(spec, kFlatImage, 1), "or write ,val=0.2 after the directory");
  const auto data = open_dataset(spec + ",val=0.5,resize=2", kFlatImage, 1, 0);
  EXPECT_EQ(data->size(Split::Train) + data->size(Split::Test), 20);
  folder.write("test/bee/1.png", flat_png(1));
  EXPECT_EQ(open_dataset(spec + ",val=0.5", kFlatImage, 1, 0)->size(Split::Test), data->size(Split::Test));
  EXPECT_PRED2(says, refusal(spec + ",val=1e-9", kFlatImage, 1), "val=1e-09 leaves 20 samples for training and 0");
  EXPECT_PRED2(says, refusal(spec + ",val=1.5", kFlatImage, 1, Exit::Usage),
               "val=1.5: expected a share above 0 and below 1");
}

TEST(HeldOut, RowsOfMnistAreThoseOfTheTrainingFiles) {
  const TemporaryFolder folder;
  FileContent pixels(kRows), labels(kRows);
  for (std::int64_t i = 0; i < kRows; ++i) pixels[i] = static_cast<std::uint8_t>(i), labels[i] = i % 10;
  folder.write("train-images-idx3-ubyte", idx({kRows, 1, 1}, pixels));
  folder.write("train-labels-idx1-ubyte", idx({kRows}, labels));
  const auto data = open_dataset("mnist:" + folder.text() + ",val=0.3", {1, 1, 1}, 10, 0);
  const auto row_at = [&](Split split, std::int64_t index) {
    std::uint8_t pixel = 0;
    const std::int32_t label = data->read(split, index, {}, &pixel);
    EXPECT_EQ(label, pixel % 10);
    return std::int64_t{pixel};
  };
  EXPECT_EQ(held_rows(*data, row_at), expected_rows());
}

TEST(HeldOut, RowsOfCifarAreThoseOfTheTrainingFiles) {
  const TemporaryFolder folder;
  FileContent records;
  for (std::int64_t i = 0; i < kRows; ++i) {
    records.push_back(3);
    records.insert(records.end(), 3072, static_cast<std::uint8_t>(i));
  }
  folder.write("data_batch_1.bin", records);
  std::vector<std::string> lines;
  const auto data = open_dataset("cifar10:" + folder.text() + ",val=0.3", {32, 32, 3}, 10, 0,
                                 [&](const std::string& line) { lines.push_back(line); });
  FileContent image(3072);
  const auto row_at = [&](Split split, std::int64_t index) {
    data->read(split, index, {}, image.data());
    return std::int64_t{image[0]};
  };
  EXPECT_EQ(held_rows(*data, row_at), expected_rows());
  EXPECT_EQ(lines.back(), message("cifar10: 200 training images in 1 of 5 files, ", expected_rows().size(),
                                  " of which are held out"));
}

TEST(HeldOut, RowsOfATableAreItsLines) {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < kRows; ++i) lines += "x\t" + std::string(i + 1, 'a') + "\n";
  folder.write("train.tsv", lines);
  for (const std::string& path : {folder.text(), folder.text() + "/train.tsv"}) {
    const auto data = open_labelled_texts("tsv:" + path + ",val=0.3", kRows, 2, 1, 0);
    const auto row_at = [&](Split split, std::int64_t index) {
      std::vector<std::int32_t> symbols(kRows);
      data->read(split, index, symbols.data());
      return std::ssize(symbols) - std::ranges::count(symbols, 0) - 1;
    };
    EXPECT_EQ(held_rows(*data, row_at), expected_rows());
  }
  folder.write("train.tsv", "x\ta\n");
  EXPECT_PRED2(says, error_from([&] { open_labelled_texts("tsv:" + folder.text() + ",val=0.3", 4, 3, 1, 0); }),
               "val=0.3 leaves");
}

TEST(HeldOut, RowsOfATextAreItsWindows) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i <= kRows; ++i) text += static_cast<char>(i);
  folder.write("text", text);
  const auto data = open_sequences("text:" + folder.text() + "/text,val=0.3", 1, 256, 0);
  const auto row_at = [&](Split split, std::int64_t index) {
    std::int32_t symbol = 0, next = 0;
    data->read(split, index, &symbol, &next);
    EXPECT_EQ(next, symbol + 1);
    return std::int64_t{symbol};
  };
  EXPECT_EQ(held_rows(*data, row_at), expected_rows());
}

}  // namespace
}  // namespace lethe::testing
