#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/train/data_samples.h"
#include "train/data/dataset.h"
#include "train/data/synthetic_images.h"

namespace lethe::testing {
namespace {

constexpr ImageShape kMade{32, 32, 3};

FileContent made_image(const Dataset& data, Split split, std::int64_t index) {
  FileContent pixels(data.info().image.bytes());
  data.read(split, index, {}, pixels.data());
  return pixels;
}

TEST(Shapes, SampleIsAFunctionOfSeedSplitAndIndex) {
  const auto data = open_dataset("shapes", kMade, 10, 7), same = open_dataset("shapes", kMade, 10, 7);
  const auto other = open_dataset("shapes", kMade, 10, 8);
  const FileContent third = made_image(*data, Split::Train, 3);
  EXPECT_EQ(made_image(*data, Split::Train, 3), third);
  made_image(*same, Split::Train, 9000);
  EXPECT_EQ(made_image(*same, Split::Train, 3), third);
  EXPECT_NE(made_image(*other, Split::Train, 3), third);
  EXPECT_NE(made_image(*data, Split::Test, 3), third);
  EXPECT_NE(made_image(*data, Split::Train, 13), third);  // the same class
}

TEST(Shapes, HaveTheSizesThatTheSpecAsksFor) {
  const auto usual = open_dataset("shapes", kMade, 10, 0);
  EXPECT_EQ(usual->size(Split::Train), 10000);
  EXPECT_EQ(usual->size(Split::Test), 2000);
  EXPECT_EQ(usual->info().held_bytes, 0);
  const auto asked = open_dataset("shapes:test=7,train=30", kMade, 10, 0);
  EXPECT_EQ(asked->size(Split::Train), 30);
  EXPECT_EQ(asked->size(Split::Test), 7);
  EXPECT_EQ(open_dataset("shapes:test=7", kMade, 10, 0)->size(Split::Train), 10000);
}

TEST(Shapes, FitAnyNetwork) {
  for (const ImageShape& image : {ImageShape{28, 28, 1}, {17, 40, 3}, {8, 8, 5}, {1, 1, 2}})
    for (const std::int64_t classes : {1, 2, 10, 37, 1000}) {
      const auto data = open_dataset("shapes", image, classes, 0);
      const DataInfo& info = data->info();
      EXPECT_EQ(info.image, image);
      EXPECT_EQ(std::set<std::string>(info.classes.begin(), info.classes.end()).size(), classes);
      EXPECT_EQ(std::ssize(info.mean), image.channels);
      FileContent pixels(image.bytes());
      for (std::int64_t i = 0; i < classes; ++i) EXPECT_EQ(data->read(Split::Test, i, {}, pixels.data()), i);
    }
}

TEST(Shapes, NormalisationFitsThePixels) {
  for (const std::int64_t classes : {10, 40}) {
    const auto data = open_dataset("shapes", kMade, classes, 1);
    double sum = 0, squares = 0, count = 0;
    for (std::int64_t i = 0; i < 1000; ++i)
      for (const std::uint8_t byte : made_image(*data, Split::Train, i)) {
        sum += byte / 255.0;
        squares += byte / 255.0 * byte / 255.0;
        ++count;
      }
    EXPECT_NEAR(sum / count, data->info().mean[0], 0.02);
    EXPECT_NEAR(std::sqrt(squares / count - sum / count * sum / count), data->info().deviation[0], 0.02);
  }
}

TEST(Figures, AreDistinctAndFitInTheUnitDisc) {
  std::set<std::string_view> names;
  std::set<int> areas;
  for (const Figure& figure : figures()) {
    int inside = 0;
    for (float y = -1.2f; y <= 1.2f; y += 0.02f)
      for (float x = -1.2f; x <= 1.2f; x += 0.02f) {
        const bool covered = figure.distance(x, y) < 0;
        inside += covered;
        ASSERT_FALSE(covered && std::hypot(x, y) > 1.001f) << figure.name << " at " << x << ", " << y;
      }
    EXPECT_GT(inside, 700) << figure.name;  // of the 7854 in the disc
    names.insert(figure.name);
    areas.insert(inside / 20);
  }
  EXPECT_EQ(names.size(), 10u);
  EXPECT_EQ(areas.size(), 10u);
}

TEST(Figures, DistanceGrowsAsFastAsTheWayOutward) {
  for (const Figure& figure : figures()) {
    const float step = figure.distance(1.6f, 0.3f) - figure.distance(1.5f, 0.28f);
    EXPECT_GT(step, 0.04f) << figure.name;
    EXPECT_LT(step, 0.11f) << figure.name;
  }
}

TEST(Synthetic, IsFixedAndRandom) {
  const auto data = open_dataset("synthetic:1000", kMade, 10, 3), same = open_dataset("synthetic:1000", kMade, 10, 3);
  EXPECT_EQ(data->size(Split::Train), 1000);
  EXPECT_EQ(data->size(Split::Test), 200);
  EXPECT_EQ(made_image(*data, Split::Train, 5), made_image(*same, Split::Train, 5));
  EXPECT_NE(made_image(*data, Split::Train, 5), made_image(*data, Split::Train, 6));
  std::vector<int> labels(10);
  FileContent pixels(kMade.bytes());
  for (std::int64_t i = 0; i < 1000; ++i) ++labels.at(data->read(Split::Train, i, {}, pixels.data()));
  EXPECT_GT(*std::min_element(labels.begin(), labels.end()), 60);
}

TEST(MadeImages, AreNormalisedAsARunHasNormalisedThem) {
  const Meaning known{.mean = {0.1, 0.2, 0.3}, .deviation = {1, 2, 3}};
  const auto open = [&](std::int64_t channels) {
    return open_dataset("shapes:train=4,test=2", {8, 8, channels}, 4, 0, {}, known);
  };
  const auto data = open(3);
  EXPECT_EQ(data->meaning().mean, known.mean);
  EXPECT_EQ(data->pixels()->deviation, known.deviation);
  EXPECT_PRED2(says, error_from([&] { open(1); }), "shapes: has images of 1 channels, the run's had 3");
}

}  // namespace
}  // namespace lethe::testing
