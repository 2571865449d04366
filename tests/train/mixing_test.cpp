// Images mixed with each other in pairs: as timm mixes them, and the same whatever the memory, the parts and the ranks.
#include "train/data/mixing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/cpu/device.h"
#include "tests/train/data_samples.h"
#include "tests/train/plan_command.h"
#include "tests/train/shared_runs.h"
#include "train/data/batches.h"
#include "train/data/image_cache.h"

namespace lethe::testing {
namespace {

TEST(Mixing, DrawsSharesAsOftenAsTimm) {
  const auto kept = nlohmann::json::parse(std::ifstream(LETHE_SOURCE_DIR "/tests/oracles/augment.json"));
  constexpr int kBatches = 20000;
  for (const nlohmann::json& row : kept.at("mixes")) {
    const Mixing setting{.mixup = row[0].value("mixup_alpha", 1.0),
                         .cutmix = row[0].value("cutmix_alpha", 0.0),
                         .probability = row[0].value("prob", 1.0),
                         .cut_probability = row[0].value("switch_prob", 0.5)};
    std::vector<double> shares;
    int cuts = 0;
    for (int batch = 0; batch < kBatches; ++batch) {
      const Mix mix = draw_mix(setting, {32, 32, 3}, mixing_stream(1, 2, batch));
      shares.push_back(mix.share);
      cuts += mix.cuts;
    }
    std::ranges::sort(shares);
    EXPECT_NEAR(static_cast<double>(cuts) / kBatches, row[1]["cut"].get<double>(), 0.02) << row;
    std::size_t i = 0;
    for (const double below : {0.1, 0.25, 0.5, 0.75, 0.9})
      EXPECT_NEAR(shares[static_cast<std::size_t>(below * kBatches)], row[1]["share"][i++].get<double>(), 0.05) << row;
  }
}

/// Images of one value each, whose label that is.
ImageCache flat_images(std::int64_t count) {
  LabelledImages images;
  for (std::int64_t i = 0; i < count; ++i) {
    images.pixels.insert(images.pixels.end(), 4 * 4, static_cast<std::uint8_t>(10 * i));
    images.labels.push_back(static_cast<std::int32_t>(i));
  }
  return ImageCache({.name = "flat", .image = {4, 4, 1}, .mean = {0}, .deviation = {1}}, {images, images});
}

struct MixedRow {
  std::int32_t label, other;
  float share;
  std::vector<std::uint8_t> pixels;
  bool operator==(const MixedRow&) const = default;
};

/// The first batch of all ranks.
std::vector<MixedRow> batch_of(const Dataset& data, const std::string& words, std::int64_t batch, std::int64_t ranks) {
  const std::unique_ptr<Device> device = open_cpu(1);
  std::vector<MixedRow> rows;
  for (std::int64_t number = 0; number < ranks; ++number) {
    BatchOptions options = training_batches(batch / ranks, DType::u8, augmentation_of(words), 5);
    options.rank = {.number = number, .of = ranks};
    Batches batches(data, options, *device);
    batches.start(1);
    const Batch& made = *batches.next();
    for (std::int64_t i = 0; i < made.count; ++i) {
      const auto* const pixels = static_cast<const std::uint8_t*>(made.samples) + i * 16;
      rows.push_back({made.labels[i], made.other_labels[i], made.shares[i], {pixels, pixels + 16}});
    }
  }
  return rows;
}

TEST(Mixing, MixesPairsWhateverTheRanks) {
  const ImageCache data = flat_images(24);
  for (const char* words : {"mixup=1", "cutmix=1"})
    for (const std::int64_t batch : {8, 6, 3}) {
      const std::vector<MixedRow> whole = batch_of(data, words, batch, 1);
      for (std::int64_t i = 0; i < batch; ++i) {
        const MixedRow& row = whole[i];
        const std::int64_t partner = std::min(i ^ 1, batch - 1);
        EXPECT_EQ(row.other, whole[partner].label);
        double mean = 0;
        for (const std::uint8_t pixel : row.pixels) mean += pixel / 16.0;
        EXPECT_NEAR(mean, 10 * (row.share * row.label + (1 - row.share) * row.other), 0.51) << words;
      }
      EXPECT_TRUE(batch_of(data, words, batch, batch) == whole) << words << ' ' << batch;
      if (batch % 2 == 0) {
        EXPECT_TRUE(batch_of(data, words, batch, 2) == whole) << words << ' ' << batch;
      }
    }
}

TEST(Mixing, RoundsBytesToTheNearest) {
  std::vector<std::uint8_t> a = {0, 255, 7}, b = {255, 0, 8};
  mix_images({.share = 0.3}, {1, 3, 1}, a.data(), b.data());
  EXPECT_EQ(a, (std::vector<std::uint8_t>{178, 76, 8}));  // 178.5 goes to the even one, as in numpy
  EXPECT_EQ(b, (std::vector<std::uint8_t>{76, 178, 7}));
}

class MixedRun : public PlanCommand {};

TEST_F(MixedRun, HasTheSameBitsAndTheBytesOfItsPlanUnderAllMemorySettings) {
  std::string first;
  for (const char* memopt : {"none", "level=1,release,inplace", "level=2", "level=3"}) {
    const Ended ended = run_train(
        small({"--augment", "flip,mixup=0.8,cutmix=1", "--steps", "5", "--memopt", memopt, "--save", path(memopt)}));
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find("bytes, as predicted"), std::string::npos) << ended.out;
    if (first.empty()) first = checkpoint_bytes(memopt);
    EXPECT_TRUE(checkpoint_bytes(memopt) == first) << memopt;
  }
  ASSERT_EQ(run_train(small({"--augment", "flip", "--steps", "5", "--save", path("plain")})).code, 0);
  EXPECT_FALSE(checkpoint_bytes("plain") == first);
  EXPECT_GT(json({"--augment", "mixup=1"})["bytes"]["peak"].get<int>(), json({})["bytes"]["peak"].get<int>());
  const Ended text = run_train({"--model", "char_gpt_cpu", "--augment", "mixup=1", "--steps", "1"});
  EXPECT_EQ(text.code, 2) << text.err;
}

TEST(Mixing, IsTheSameInPartsOnRanks) {
  SessionSetting setting = sharing("lenet", 8, 4);
  setting.data.augment = augmentation_of("mixup=0.4,cutmix=1");
  const TemporaryFolder folder;
  const auto saved = [&](std::int64_t ranks) {
    const std::string run = folder.text() + message("/", ranks);
    train_to(3, setting, run, ranks, 0);
    return saved_in(run);
  };
  const std::string one = saved(1);
  EXPECT_TRUE(saved(2) == one);
  EXPECT_TRUE(saved(4) == one);
}

}  // namespace
}  // namespace lethe::testing
