#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/train/data_samples.h"
#include "train/data/batches.h"
#include "train/data/synthetic_images.h"

namespace lethe::testing {
namespace {

constexpr ImageShape kMasked{16, 20, 3};

struct Masked {
  FileContent pixels;
  std::vector<std::int32_t> labels;
  bool operator==(const Masked&) const = default;
};

Masked masked_image(const Masks& data, Split split, std::int64_t index) {
  Masked made{FileContent(static_cast<std::size_t>(data.info().image.bytes())),
              std::vector<std::int32_t>(static_cast<std::size_t>(data.labels()))};
  data.read(split, index, {}, made.pixels.data(), made.labels.data());
  return made;
}

TEST(ShapeMasks, AreThePicturesOfShapesWithTheFigureMarked) {
  const auto data = open_masks("shape-masks", kMasked, 5, 3);
  const auto shapes = open_dataset("shapes", kMasked, 4, 3);
  EXPECT_EQ(data->labels(), 16 * 20);
  EXPECT_EQ(data->size(Split::Train), 10000);
  EXPECT_EQ(data->info().classes.front(), "ground");
  EXPECT_EQ(data->info().classes.size(), 5u);
  FileContent pixels(static_cast<std::size_t>(kMasked.bytes()));
  for (std::int64_t i = 0; i < 12; ++i) {
    const Masked made = masked_image(*data, Split::Test, i);
    const std::int32_t kind = shapes->read(Split::Test, i, {}, pixels.data());
    EXPECT_EQ(made.pixels, pixels);
    EXPECT_EQ(std::set<std::int32_t>(made.labels.begin(), made.labels.end()), (std::set<std::int32_t>{0, 1 + kind}));
  }
}

TEST(ShapeMasks, FigureIsOfAnotherColourThanTheGround) {
  const auto data = open_masks("shape-masks", kMasked, 3, 0);
  for (std::int64_t i = 0; i < 8; ++i) {
    const Masked made = masked_image(*data, Split::Train, i);
    double inside = 0, outside = 0;
    const auto figure = static_cast<double>(std::count(made.labels.begin(), made.labels.end(), 1 + i % 2));
    for (std::size_t at = 0; at < made.labels.size(); ++at)
      for (std::size_t c = 0; c < 3; ++c) (made.labels[at] > 0 ? inside : outside) += made.pixels[at * 3 + c];
    EXPECT_GT(inside / figure, 1.5 * outside / (320 - figure)) << i;
  }
}

TEST(SyntheticMasks, HaveEveryLabelAndTheSizesOfTheSpec) {
  const auto data = open_masks("synthetic:10", kMasked, 4, 0);
  EXPECT_EQ(data->size(Split::Train), 10);
  EXPECT_EQ(data->size(Split::Test), 2);
  const Masked made = masked_image(*data, Split::Train, 9);
  EXPECT_EQ(made, masked_image(*data, Split::Train, 9));
  EXPECT_EQ(std::set<std::int32_t>(made.labels.begin(), made.labels.end()), (std::set<std::int32_t>{0, 1, 2, 3}));
}

TEST(Masks, BatchesHoldNormalisedImagesAndALabelForEachPixel) {
  const auto data = open_masks("shape-masks:train=3,test=3", kMasked, 4, 0);
  Batches batches(*data, evaluation_batches(2, DType::f32), host());
  batches.start(0);
  const Batch* batch = batches.next();
  const Masked second = masked_image(*data, Split::Test, 1);
  EXPECT_EQ(std::vector<std::int32_t>(batch->labels + 320, batch->labels + 640), second.labels);
  const auto* pixels = static_cast<const float*>(batch->samples) + kMasked.bytes();
  EXPECT_FLOAT_EQ(pixels[0], static_cast<float>((second.pixels[0] / 255.0 - 0.22) / 0.22));
  batch = batches.next();
  EXPECT_EQ(batch->count, 1);
  EXPECT_EQ(std::count(batch->labels + 320, batch->labels + 640, 0), 320) << "padding is not zero";
}

TEST(Masks, WhatCannotBeIsOneLine) {
  const auto refused = [](const std::string& spec, Exit code, std::int64_t classes = 4) {
    return error_from([&] { open_masks(spec, kMasked, classes, 0); }, code);
  };
  EXPECT_PRED2(says, refused("shapes", Exit::Usage),
               "gives images, the network takes images with masks (known: masks:IMAGES,MASKS, shape-masks");
  EXPECT_PRED2(says, refused("shape-mask", Exit::Usage), "did you mean 'shape-masks'?");
  EXPECT_PRED2(says, refused("shape-masks", Exit::Data, 1), "the network tells 1 apart");
  EXPECT_PRED2(says, error_from([] { open_dataset("shape-masks", kMasked, 4, 0); }, Exit::Usage),
               "gives images with masks, the network takes images");
  const auto data = open_masks("shape-masks", kMasked, 4, 0);
  for (const char* words :
       {"pad-crop", "cutout", "random-resized-crop", "rotate=15", "color-jitter", "rand-m9", "mixup=1"})
    EXPECT_PRED2(says, error_from([&] { data->reader({.augment = augmentation_of(words)}); }, Exit::Usage),
                 "shape-masks: gives a label for each pixel; of `augment` flip and random-crop change these, too")
        << words;
}

}  // namespace
}  // namespace lethe::testing
