// The order in which all classes are drawn alike.
#include "train/data/class_balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "framework/builder/builder.h"
#include "tests/train/data_samples.h"
#include "train/data/batches.h"
#include "train/data/synthetic_images.h"
#include "train/session/fed_data.h"

namespace lethe::testing {
namespace {

/// 90 images of class 0, 9 of class 2 and one of class 3; each has its index and how it was varied as its pixels.
class Rare final : public Dataset {
 public:
  Rare()
      : Dataset({.name = "rare",
                 .image = {1, 2, 1},
                 .classes = {"a", "b", "c", "d"},
                 .sizes = {100, 1},
                 .mean = {0},
                 .deviation = {1.0 / 255}}) {}
  std::int32_t read(Split, std::int64_t index, CropAt crop, std::uint8_t* pixels) const override {
    pixels[0] = static_cast<std::uint8_t>(index);
    pixels[1] = static_cast<std::uint8_t>(255 * crop.vertical);
    return index < 90 ? 0 : index < 99 ? 2 : 3;
  }
};

BatchOptions balanced_batches(std::int64_t batch, std::uint64_t seed = 1) {
  BatchOptions options = training_batches(batch, DType::u8, {.random_crop = true}, seed);
  options.balanced = true;
  return options;
}

/// The pixels of the batches from `batch` on, in pairs.
std::vector<std::pair<int, int>> drawn(const BatchOptions& options, std::int64_t epoch, std::int64_t batch = 0) {
  const Rare data;
  Batches batches(data, options, host());
  batches.start(epoch, batch);
  std::vector<std::pair<int, int>> all;
  while (const Batch* next = batches.next()) {
    const auto* const pixels = static_cast<const std::uint8_t*>(next->samples);
    for (std::int64_t i = 0; i < next->count; ++i) all.emplace_back(pixels[2 * i], pixels[2 * i + 1]);
  }
  return all;
}

TEST(BalancedOrder, DrawsEachClassAndEachSampleOfItAlike) {
  const BalancedOrder balanced{Rare()};
  std::vector<std::int32_t> order(30000);
  balanced.draw(7, 0, order);
  std::map<std::int32_t, int> counts;
  for (const std::int32_t sample : order) ++counts[sample];
  EXPECT_EQ(counts.size(), 100U);
  EXPECT_NEAR(counts[99], 10000, 400);  // five deviations
  for (std::int32_t i = 90; i < 99; ++i) EXPECT_NEAR(counts[i], 10000 / 9.0, 170) << i;
  for (std::int32_t i = 0; i < 90; ++i) EXPECT_NEAR(counts[i], 10000 / 90.0, 55) << i;
}

TEST(BalancedOrder, IsAFunctionOfSeedAndEpoch) {
  const auto first = drawn(balanced_batches(10), 0);
  EXPECT_EQ(first.size(), 100U);
  EXPECT_EQ(drawn(balanced_batches(10), 0), first);
  EXPECT_NE(drawn(balanced_batches(10), 1), first);
  EXPECT_NE(drawn(balanced_batches(10, 2), 0), first);
  const auto rest = drawn(balanced_batches(10), 0, 7);
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), first.begin() + 70, first.end()));
}

TEST(BalancedOrder, IsTheSameForRanksAndWorkers) {
  const auto alone = drawn(balanced_batches(10), 3);
  std::vector<std::pair<int, int>> together(alone.size());
  for (const std::int64_t number : {0, 1}) {
    BatchOptions options = balanced_batches(5);
    options.rank = {number, 2};
    options.workers = 3;
    const auto own = drawn(options, 3);
    for (std::size_t i = 0; i < own.size(); ++i)
      together[i / 5 * 10 + static_cast<std::size_t>(number) * 5 + i % 5] = own[i];
  }
  EXPECT_EQ(together, alone);
}

TEST(BalancedOrder, WhatIsDrawnTwiceIsVariedTwice) {
  std::set<int> ways;
  for (const auto& [sample, way] : drawn(balanced_batches(10), 0))
    if (sample == 99) ways.insert(way);
  EXPECT_GT(ways.size(), 10U) << "about 33 draws";
}

TEST(BalancedOrder, IsOfSamplesWithOneLabelEach) {
  const auto masks = open_masks("shape-masks", {8, 8, 3}, 3, 0);
  EXPECT_PRED2(says, error_from([&] { BalancedOrder{*masks}; }, Exit::Usage),
               "`sampler` balanced draws samples by their class; those of shape-masks have 64 labels each");
  Builder net({.batch = 1});
  const VarId x = net.input("x", {2});
  net.loss("mse", net.layer("fc", x, {{"out", 1}}), net.input("y", {1}));
  const auto numbers = open_data("numbers", 0, net.finish(), {}, {});
  EXPECT_PRED2(says, error_from([&] { BalancedOrder{*numbers}; }, Exit::Usage),
               "`sampler` balanced draws samples by their class; those of numbers have none");
}

TEST(ClassWeights, BalanceTheLabelsOfPixelsToo) {
  const auto masks = open_masks("shape-masks:train=20,test=1", {8, 8, 3}, 3, 0);
  const std::vector<double> weights = values_of({.balanced = true}, *masks, 3, {});
  std::vector<double> counts(3);
  masks->visit_labels(Split::Train, [&](std::int64_t, std::span<const std::int32_t> labels) {
    for (const std::int32_t label : labels) ++counts[static_cast<std::size_t>(label)];
  });
  for (std::size_t c = 0; c < 3; ++c) EXPECT_DOUBLE_EQ(weights[c], 20 * 64 / (3 * counts[c]));
  const std::vector<double> others = values_of({.balanced = true}, *masks, 3, 0);
  EXPECT_EQ(others[0], 0);
  EXPECT_DOUBLE_EQ(others[1], (counts[1] + counts[2]) / (2 * counts[1]));
}

}  // namespace
}  // namespace lethe::testing
