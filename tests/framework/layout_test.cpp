// Which values are images and which are plain: said by inputs and shapes, handed on by layers.
#include <gtest/gtest.h>

#include <algorithm>

#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

TEST(SampleLayout, AnImageIsStatedWithItsChannelsFirst) {
  EXPECT_EQ(memory_shape({2, 3, 4, 5}, Layout::Image), (Shape{2, 4, 5, 3}));
  EXPECT_EQ(stated_shape({2, 4, 5, 3}, Layout::Image), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(memory_shape({2, 3, 4, 5}, Layout::Plain), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(stated_axes(4, Layout::Image), (Ints{0, 3, 1, 2}));
}

class Layouts : public ::testing::Test {
 protected:
  Builder net_{BuildOptions{.batch = 2}};
  const VarId words_ = net_.input("words", {6, 8});     // a sequence
  const VarId image_ = net_.input("image", {4, 4, 3});  // [3, 4, 4] in files
  const VarId vector_ = net_.input("vector", {48});     // neither
  const VarId heads_ = net_.layer("reshape", words_, {{"shape", Ints{6, 2, 4}}});
};

TEST_F(Layouts, ReshapeOfASequenceIsPlainAndOfAnImageAnImage) {
  EXPECT_EQ(net_.shape(heads_), (Shape{2, 6, 2, 4})) << "in the order of the elements, as PyTorch has it";
  EXPECT_FALSE(net_.is_image(heads_));
  const VarId other = net_.layer("reshape", image_, {{"shape", Ints{12, 2, 2}}});
  EXPECT_EQ(net_.shape(other), (Shape{2, 2, 2, 12}));
  EXPECT_TRUE(net_.is_image(other));
  EXPECT_EQ(net_.sample_shape(other), (Shape{12, 2, 2}));
}

TEST_F(Layouts, ReshapeOfAVectorMustSayWhichItIs) {
  const auto reshaped = [&](const char* layout) {
    return net_.shape(net_.layer("reshape", vector_, {{"shape", Ints{3, 4, 4}}, {"layout", layout}}));
  };
  EXPECT_TRUE(fails_with("may be an image [C,H,W] or plain", [&] {
    net_.layer("reshape", vector_, {{"shape", Ints{3, 4, 4}}});
  }));
  EXPECT_EQ(reshaped("image"), (Shape{2, 4, 4, 3}));
  EXPECT_EQ(reshaped("plain"), (Shape{2, 3, 4, 4}));
}

TEST_F(Layouts, AxesOfPlainSamplesAreCountedAsTheyStand) {
  EXPECT_EQ(net_.shape(net_.layer("transpose", heads_, {{"perm", Ints{1, 0, 2}}})), (Shape{2, 2, 6, 4}));
  EXPECT_EQ(net_.shape(net_.layer("slice", heads_, {{"axis", 0}, {"end", 5}})), (Shape{2, 5, 2, 4}));
  EXPECT_EQ(net_.shape(net_.layer("slice", image_, {{"axis", 0}, {"end", 1}})), (Shape{2, 4, 4, 1}));
  EXPECT_EQ(net_.shape(net_.layer("concat", {heads_, heads_}, {{"axis", 1}})), (Shape{2, 6, 4, 4}));
  EXPECT_TRUE(fails_with("'height' is no axis of [6,2,4]", [&] { net_.layer("sum", heads_, {{"axis", "height"}}); }));
}

TEST_F(Layouts, LayersHandTheLayoutOn) {
  const VarId exp = net_.layer("exp", net_.layer("transpose", heads_, {{"perm", Ints{1, 0, 2}}}));
  EXPECT_FALSE(net_.is_image(exp));
  EXPECT_TRUE(net_.is_image(net_.layer("conv", image_, {{"out", 2}, {"k", 3}})));
  const VarId looped = net_.loop({heads_}, 2, nullptr, [&](const Vars& h) { return Vars{net_.layer("exp", h[0])}; })[0];
  EXPECT_FALSE(net_.is_image(looped));
  const VarId flag = net_.layer("greater", net_.layer("mean", image_), {{"value", 0.0}});
  const auto side = [&] { return Vars{net_.layer("exp", image_)}; };
  EXPECT_TRUE(net_.is_image(net_.branch(flag, side, side)[0]));
}

TEST_F(Layouts, AnArrayKeepsTheLayoutOfItsEntries) {
  const VarId images = net_.layer("array", image_, {{"length", 2}, {"shape", Ints{5, 4, 4}}});
  const VarId rows = net_.layer("array", words_, {{"length", 2}, {"shape", Ints{6, 8}}});
  EXPECT_EQ(net_.shape(images), (Shape{2, 2, 4, 4, 5}));
  EXPECT_EQ(net_.shape(net_.layer("transpose", rows, {{"time_major", 1}})), (Shape{2, 2, 6, 8}));
  net_.loop({vector_}, 2, nullptr, [&](const Vars& h) {
    EXPECT_TRUE(net_.is_image(net_.layer("array_read", {images, net_.trip()})));
    return h;
  });
}

TEST_F(Layouts, WhatNeedsAnImageRefusesAPlainSample) {
  for (const char* layer : {"conv", "max_pool", "pad", "pad_channels", "global_avg_pool", "conv_transpose", "upsample",
                            "pixel_shuffle", "pixel_unshuffle"}) {
    Attrs settings;
    for (const Key& key : layer_named(layer).keys)
      if (!key.absent && (!key.optional || key.name == "scale" || key.name == "pad")) settings.set(key.name, 1);
    EXPECT_TRUE(fails_with("expected an image, given a plain [6,2,4]", [&] { net_.layer(layer, heads_, settings); }))
        << layer;
  }
}

TEST_F(Layouts, AnImageAndAPlainSampleDoNotMix) {
  const VarId plain = net_.input("plain", {4, 4, 3}, DType::f32, Layout::Plain);
  EXPECT_EQ(net_.sample_shape(plain), (Shape{4, 4, 3}));
  EXPECT_TRUE(fails_with("add: an image and a plain value, [3,4,4] and [4,4,3]", [&] {
    net_.layer("add", {image_, plain});
  }));
  EXPECT_TRUE(fails_with("an image and a plain value", [&] {
    net_.loop({image_}, 2, nullptr, [&](const Vars&) { return Vars{net_.layer("exp", plain)}; });
  }));
  EXPECT_TRUE(fails_with("an image and a plain value, [3,4,4] and [4,4,3]", [&] {
    net_.layer("concat", {vector_, image_, plain}, {{"axis", 0}});
  })) << "the value that is neither is not named";
}

TEST_F(Layouts, TheColumnsOfAFlattenedPlainSampleStandInFilesAsInMemory) {
  net_.layer("fc", image_, {{"out", 2}}, "of_image");
  net_.layer("fc", heads_, {{"out", 2}}, "of_plain");
  net_.layer("fc", net_.layer("reshape", image_, {{"shape", Ints{-1, 3}}, {"batch", 1}}), {{"out", 2}}, "of_pixels");
  const Network network = net_.finish();
  const auto layout_of = [&](const std::string& name) {
    const VarId var = find_var(network.program, name);
    return std::find_if(network.params.begin(), network.params.end(), [&](const auto& info) { return info.var == var; })
        ->layout;
  };
  EXPECT_EQ(layout_of("of_image.weight"), (FileLayout{FileLayout::FlatImage, {4, 4, 3}}));
  EXPECT_EQ(layout_of("of_plain.weight"), FileLayout{});
  EXPECT_EQ(layout_of("of_pixels.weight"), FileLayout{}) << "a row is of one pixel";
}

}  // namespace
}  // namespace lethe::testing
