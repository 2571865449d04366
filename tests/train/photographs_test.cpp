// Photographs are varied as timm and torchvision vary them: to the byte where the same is drawn, and drawn as often.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "train/data/augment.h"
#include "train/data/checksum.h"
#include "train/data/image_cache.h"
#include "train/data/rand_augment.h"
#include "train/data/resized_crop.h"

namespace lethe::testing {
namespace {

using nlohmann::json;

const std::vector<std::uint8_t> kMeanColour = {124, 116, 104};

/// tests/oracles/augment.py has the same.
Image made_image(std::int64_t height, std::int64_t width, std::int64_t channels, bool narrow) {
  Image image{.shape = {height, width, channels}};
  for (std::int64_t i = 0; i < image.shape.bytes(); ++i) {
    const std::int64_t value = (37 * i + i * i / 5) % 256;
    image.pixels.push_back(static_cast<std::uint8_t>(narrow ? 60 + value / 3 : value));
  }
  return image;
}

std::uint32_t checksum_of(const std::vector<std::uint8_t>& pixels) {
  return lethe::checksum_of(std::as_bytes(std::span(pixels)));
}

const json& kept() {
  static const json figures = json::parse(std::ifstream(LETHE_SOURCE_DIR "/tests/oracles/augment.json"));
  return figures;
}

Filter filter_of(const json& bicubic) { return bicubic.get<bool>() ? Filter::Bicubic : Filter::Bilinear; }

TEST(Photographs, AreChangedByEachOperationAsByTimm) {
  std::size_t known = 0;
  for (const bool increasing : {false, true})
    for (const RandOp& op : rand_ops(increasing))
      for (const json& row : kept().at("operations")) {
        if (row[0] != op.name) continue;
        ++known;
        for (const bool narrow : {false, true}) {
          Image image = made_image(9, 12, 3, narrow);
          op.apply(image, row[1], row[2], filter_of(row[3]), kMeanColour);
          EXPECT_EQ(checksum_of(image.pixels), row[4][narrow ? 1 : 0]) << row;
        }
      }
  EXPECT_GE(known, kept().at("operations").size());
}

TEST(Photographs, AreChangedInTheirColoursAsByTorchvision) {
  const std::map<std::string, void (*)(Image&, double)> changes = {{"brightness", adjust_brightness},
                                                                   {"contrast", adjust_contrast},
                                                                   {"saturation", adjust_saturation},
                                                                   {"hue", adjust_hue}};
  for (const json& row : kept().at("colours"))
    for (const bool coloured : {false, true}) {
      Image image = made_image(9, 12, coloured ? 3 : 1, true);
      changes.at(row[0])(image, row[1]);
      EXPECT_EQ(checksum_of(image.pixels), row[2][coloured ? 1 : 0]) << row;
    }
}

TEST(Photographs, AreResizedAsByPillow) {
  for (const json& row : kept().at("resized")) {
    const ImageShape size{row[1][0], row[1][1], 3};
    std::vector<std::uint8_t> made(static_cast<std::size_t>(size.bytes()));
    resize_part(made_image(40, 50, 3, false), {row[0][0], row[0][1], row[0][2], row[0][3]}, filter_of(row[2]), size,
                made.data());
    EXPECT_EQ(checksum_of(made), row[3]) << row;
  }
}

/// The values that a tenth, a quarter, half, three quarters and nine tenths of all are below.
void expect_quantiles(std::vector<double> values, const json& expected, double near) {
  std::ranges::sort(values);
  std::size_t i = 0;
  for (const double share : {0.1, 0.25, 0.5, 0.75, 0.9}) {
    const double value = values[static_cast<std::size_t>(share * static_cast<double>(values.size()))];
    EXPECT_NEAR(value, expected[i].get<double>(), near) << share << " of " << expected;
    ++i;
  }
}

constexpr int kDraws = 20000;

TEST(Photographs, HavePartsDrawnAsOftenAsByTimm) {
  for (const json& row : kept().at("parts")) {
    const ImageShape image{row[0][0], row[0][1], 3};
    std::vector<double> areas, shapes, tops;
    Random random(1);
    for (int i = 0; i < kDraws; ++i) {
      const ImagePart part = draw_part(image, {}, random);
      const auto high = static_cast<double>(part.height), wide = static_cast<double>(part.width);
      areas.push_back(high * wide / static_cast<double>(image.height * image.width));
      shapes.push_back(wide / high);
      tops.push_back(static_cast<double>(part.top) /
                     static_cast<double>(std::max<std::int64_t>(image.height - part.height, 1)));
    }
    expect_quantiles(areas, row[1]["area"], 0.02);
    expect_quantiles(shapes, row[1]["shape"], 0.02);
    expect_quantiles(tops, row[1]["top"], 0.04);
  }
  for (const json& row : kept().at("narrow_parts")) {
    Random random(1);
    const ImagePart part = draw_part({row[0][0], row[0][1], 3}, {.least = 0.9}, random);
    EXPECT_EQ(part, (ImagePart{row[1][0], row[1][1], row[1][2], row[1][3]})) << row;
  }
  Random random(1);
  const ImagePart line = draw_part({32, 32, 3}, {.narrowest = 100, .widest = 100}, random);
  EXPECT_EQ(line, (ImagePart{15, 0, 1, 32})) << "at least a pixel";
}

TEST(Photographs, HaveMagnitudesDrawnAsOftenAsByTimm) {
  for (const json& row : kept().at("magnitudes")) {
    const RandAugment setting = augmentation_of(row[0]).rand_augment;
    Random random(3);
    std::vector<double> magnitudes;
    for (int i = 0; i < kDraws; ++i)
      if (const auto magnitude = drawn_magnitude(setting, random)) magnitudes.push_back(*magnitude);
    EXPECT_NEAR(static_cast<double>(magnitudes.size()) / kDraws, row[1]["applied"].get<double>(), 0.02);
    expect_quantiles(magnitudes, row[1]["of"], 0.1);
  }
}

TEST(Photographs, AreVariedByEachWordInsideAnyRange) {
  LabelledImages images{.pixels = made_image(9, 12, 3, false).pixels, .labels = {4}};
  const ImageCache data({.name = "one", .image = {9, 12, 3}, .mean = {0.486, 0.455, 0.408}, .deviation = {1, 1, 1}},
                        {images, images});
  const auto varied = [&](const std::string& words, std::int64_t epoch) {
    Augmenter augmenter(data, augmentation_of(words));
    const Augmenter::Sample sample = augmenter.read(Split::Train, 0, augmentation_stream(1, epoch, 0));
    return FileContent(sample.pixels, sample.pixels + 9 * 12 * 3);
  };
  for (const char* words : {"random-resized-crop", "random-resized-crop=0.3:0.6", "rotate=30", "color-jitter",
                            "color-jitter=0:0:0:0.5", "rand-m9-mstd0.5-inc1", "rand-n3-m20-mmax30-p1",
                            "random-resized-crop=0.5:1:0.9:1.1,flip,rotate=5,rand,color-jitter=0.2,cutout=3"}) {
    EXPECT_EQ(varied(words, 3), varied(words, 3)) << words;
    int changed = 0;
    for (std::int64_t epoch = 0; epoch < 40; ++epoch) changed += varied(words, epoch) != images.pixels;
    EXPECT_GT(changed, 15) << words;
  }
}

TEST(Photographs, RefuseWordsThatMeanNothing) {
  const auto told = [](const std::string& words) { return error_from([&] { augmentation_of(words); }, Exit::Usage); };
  EXPECT_EQ(told("rotate"), "`augment`: 'rotate': expected rotate to go on as in rotate=15");
  EXPECT_EQ(told("flip=2"), "`augment`: 'flip=2': flip takes no value");
  EXPECT_EQ(told("rand-m9-q3"),
            "`augment`: 'rand-m9-q3' has an unknown part 'q'; known: m, n, mstd, mmax, inc and p, as in "
            "rand-m9-mstd0.5-inc1");
  EXPECT_EQ(told("rand-m9.5"), "`augment`: 'rand-m9.5': m is 9.5, expected a whole number up to 1000");
  EXPECT_EQ(told("color-jitter=0.4:0.4"),
            "`augment`: 'color-jitter=0.4:0.4': expected color-jitter to go on as in color-jitter=0.4, =0.4:0.4:0.4 or "
            "=0.4:0.4:0.4:0.1");
  EXPECT_PRED2(says, told("random-resized-crop=0.9:0.1"), "0.9 to 0.1 of its area");
  EXPECT_PRED2(says, told("random-resized-crop,pad-crop"), "exclude each other");
  EXPECT_PRED2(says, told("rotate=1e999"), "expected rotate to go on");
  EXPECT_PRED2(says, told("color-jitter="), "expected color-jitter to go on");
  EXPECT_EQ(augmentation_of("color_jitter"), augmentation_of("color-jitter=0.4"));
  EXPECT_PRED2(says, told("color-jitter=0.4:0.4:0.4:"), "expected color-jitter to go on");
  for (const char* words : {"rand-", "rand-m9-"}) EXPECT_PRED2(says, told(words), "expected rand to go on");
  EXPECT_PRED2(says, told("rand-m9-m3"), "m stands twice");
}

}  // namespace
}  // namespace lethe::testing
