#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/low_floats.h"
#include "tests/train/data_samples.h"
#include "train/data/augment.h"
#include "train/data/image_cache.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kSide = 6;

/// One image of 6 x 6 with two channels whose pixels all differ and are not black.
ImageCache one_image() {
  LabelledImages images;
  for (std::int64_t i = 0; i < kSide * kSide * 2; ++i) images.pixels.push_back(static_cast<std::uint8_t>(i + 10));
  images.labels = {4};
  DataInfo info{.name = "one", .image = {kSide, kSide, 2}, .mean = {0.5, 0.25}, .deviation = {0.25, 0.5}};
  return ImageCache(info, {images, images});
}

FileContent varied(const ImageCache& data, const Augmentation& options, std::uint64_t seed, std::int64_t epoch = 0,
                   std::int64_t index = 0) {
  Augmenter augmenter(data, options);
  const Augmenter::Sample sample = augmenter.read(Split::Train, 0, augmentation_stream(seed, epoch, index));
  EXPECT_EQ(sample.label, 4);
  return FileContent(sample.pixels, sample.pixels + data.info().image.bytes());
}

/// Moves `source` and perhaps mirrors it, pixel by pixel, as a crop from an image with a black border should.
FileContent moved(const FileContent& source, std::int64_t down, std::int64_t right, bool flip) {
  FileContent out(source.size(), 0);
  for (std::int64_t y = 0; y < kSide; ++y)
    for (std::int64_t x = 0; x < kSide; ++x) {
      const std::int64_t from_y = y + down, from_x = (flip ? kSide - 1 - x : x) + right;
      if (from_y < 0 || from_y >= kSide || from_x < 0 || from_x >= kSide) continue;
      for (std::int64_t c = 0; c < 2; ++c) out[(y * kSide + x) * 2 + c] = source[(from_y * kSide + from_x) * 2 + c];
    }
  return out;
}

TEST(Augmentation, WithoutOptionsTheImageStaysAsItIs) {
  const ImageCache data = one_image();
  FileContent image(72);
  data.read(Split::Train, 0, {}, image.data());
  EXPECT_EQ(varied(data, {}, 5), image);
}

TEST(Augmentation, PadCropAndFlipGiveEveryShiftOnBothSides) {
  const ImageCache data = one_image();
  const FileContent image = varied(data, {}, 0);
  const auto text_of = [](const FileContent& bytes) { return std::string(bytes.begin(), bytes.end()); };
  std::set<std::string> possible, seen;
  for (std::int64_t down = -2; down <= 2; ++down)
    for (std::int64_t right = -2; right <= 2; ++right)
      for (const bool flip : {false, true}) possible.insert(text_of(moved(image, down, right, flip)));
  ASSERT_EQ(possible.size(), 50u);
  for (std::int64_t index = 0; index < 1000; ++index)
    seen.insert(text_of(varied(data, {.pad_crop = 2, .flip = true}, 1, 0, index)));
  EXPECT_EQ(seen, possible);
}

TEST(Augmentation, FlipAloneMirrorsHalfOfTheImages) {
  const ImageCache data = one_image();
  const FileContent image = varied(data, {}, 0), mirrored = moved(image, 0, 0, true);
  int flips = 0;
  for (std::int64_t index = 0; index < 1000; ++index) {
    const FileContent now = varied(data, {.flip = true}, 1, 0, index);
    ASSERT_TRUE(now == image || now == mirrored);
    flips += now == mirrored;
  }
  EXPECT_NEAR(flips, 500, 60);
}

TEST(Augmentation, BorderWiderThanTheImageIsAllowed) {
  const ImageCache data = one_image();
  for (std::int64_t index = 0; index < 200; ++index) varied(data, {.pad_crop = 20, .flip = true}, 1, 0, index);
}

TEST(Augmentation, IsAFunctionOfSeedEpochAndIndex) {
  const ImageCache data = one_image();
  const Augmentation options{.pad_crop = 4, .flip = true, .cutout = 3};
  const auto several = [&](std::uint64_t seed, std::int64_t epoch, std::int64_t first) {
    std::vector<FileContent> images;
    for (std::int64_t i = 0; i < 4; ++i) images.push_back(varied(data, options, seed, epoch, first + i));
    return images;
  };
  EXPECT_EQ(several(1, 2, 3), several(1, 2, 3));
  EXPECT_NE(several(1, 2, 3), several(2, 2, 3));
  EXPECT_NE(several(1, 2, 3), several(1, 3, 3));
  EXPECT_NE(several(1, 2, 3), several(1, 2, 30));
}

TEST(Augmentation, CutoutFillsASquareWithTheMeanColour) {
  const ImageCache data = one_image();
  const FileContent image = varied(data, {}, 0);
  std::size_t largest = 0;
  for (std::int64_t index = 0; index < 200; ++index) {
    const FileContent now = varied(data, {.cutout = 3}, 1, 0, index);
    std::size_t changed = 0;
    for (std::size_t i = 0; i < now.size(); i += 2)
      if (now[i] != image[i]) {
        EXPECT_EQ(now[i], 128);
        EXPECT_EQ(now[i + 1], 64);
        ++changed;
      }
    EXPECT_GE(changed, 4u);
    largest = std::max(largest, changed);
  }
  EXPECT_EQ(largest, 9u);
}

TEST(Augmentation, NegativeSettingsAreRefused) {
  const ImageCache data = one_image();
  EXPECT_PRED2(says, error_from([&] { Augmenter(data, {.pad_crop = -1}); }, Exit::Usage), "pad_crop -1");
}

TEST(Normalizer, SubtractsTheMeanAndDividesByTheDeviation) {
  const ImageCache data = one_image();
  const FileContent pixels{0, 0, 51, 102, 255, 255};
  std::vector<double> f64(6);
  Normalizer(data.info(), DType::f64).run(pixels.data(), 6, f64.data());
  const double values[] = {0, 0, 0.2, 0.4, 1, 1};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(f64[i], (values[i] - (i % 2 ? 0.25 : 0.5)) / (i % 2 ? 0.5 : 0.25));
  std::vector<float> f32(6);
  Normalizer(data.info(), DType::f32).run(pixels.data(), 6, f32.data());
  std::vector<F16> f16(6);
  Normalizer(data.info(), DType::f16).run(pixels.data(), 6, f16.data());
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(f32[i], static_cast<float>(f64[i]));
    EXPECT_EQ(f16[i], static_cast<float>(F16(f64[i])));
  }
}

}  // namespace
}  // namespace lethe::testing
