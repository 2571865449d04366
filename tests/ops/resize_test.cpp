// Images in another size: upsample, pixel_shuffle, transposed convolutions. Values are PyTorch's.
#include <gtest/gtest.h>

#include <cmath>

#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

Attrs to_size(std::int64_t height, std::int64_t width, const char* mode, bool aligned = false) {
  return {{"size", Ints{height, width}}, {"mode", mode}, {"align_corners", aligned}};
}

void expect_values(const Tensor& got, const Shape& shape, const std::vector<double>& values) {
  EXPECT_EQ(got.shape, shape);
  ASSERT_EQ(got.values.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(got.values[i], values[i], 1e-12) << i;
}

const Tensor kImage = counted({1, 2, 3, 1});

TEST(Upsample, NearestRepeatsPixels) {
  EXPECT_EQ(run_op("upsample", {kImage}, to_size(3, 5, "nearest")),
            (Tensor{{1, 3, 5, 1}, {1, 1, 2, 2, 3, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6}}));
  EXPECT_EQ(run_op("upsample", {counted({1, 1, 2, 2})}, to_size(1, 4, "nearest")),
            (Tensor{{1, 1, 4, 2}, {1, 2, 1, 2, 3, 4, 3, 4}}));
}

TEST(Upsample, NearestReadsNoNeighbour) {
  const Tensor y = run_op("upsample", {Tensor{{1, 1, 2, 1}, {NAN, 1}}}, to_size(1, 4, "nearest"));
  EXPECT_TRUE(std::isnan(y.values[1]));
  EXPECT_EQ(y.values[2], 1);
}

TEST(Upsample, BilinearWeighsThePixelsAround) {
  expect_values(run_op("upsample", {kImage}, to_size(4, 5, "bilinear")), {1, 4, 5, 1},
                {1, 1.4, 2, 2.6, 3, 1.75, 2.15, 2.75, 3.35, 3.75, 3.25, 3.65, 4.25, 4.85, 5.25, 4, 4.4, 5, 5.6, 6});
}

TEST(Upsample, AlignedCornersKeepTheirPlaces) {
  expect_values(run_op("upsample", {kImage}, to_size(3, 5, "bilinear", true)), {1, 3, 5, 1},
                {1, 1.5, 2, 2.5, 3, 2.5, 3, 3.5, 4, 4.5, 4, 4.5, 5, 5.5, 6});
}

TEST(Upsample, GradientsOfAConstantCountTheOutputsOfAPixel) {
  const Attrs sizes{{"size", Ints{4, 6}}, {"mode", "nearest"}, {"height", 2}, {"width", 3}};
  const Tensor ones{{1, 4, 6, 1}, std::vector<double>(24, 1)};
  EXPECT_EQ(run_op("upsample_grad", {ones}, sizes), (Tensor{{1, 2, 3, 1}, std::vector<double>(6, 4)}));
}

TEST(Upsample, GradientsOfOtherPixelsAreNotRead) {
  Attrs sizes = to_size(1, 3, "bilinear", true);
  sizes.set("height", 1);
  sizes.set("width", 2);
  const Tensor dx = run_op("upsample_grad", {Tensor{{1, 1, 3, 1}, {INFINITY, 1, 1}}}, sizes);
  EXPECT_EQ(dx.values[0], INFINITY);
  EXPECT_EQ(dx.values[1], 1.5);
}

TEST(Upsample, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("upsample", {{1, 2, 2, 3}}, to_size(4, 4, "cubic")),
            "upsample: unknown mode 'cubic'; known: nearest, bilinear");
  for (const std::int64_t size : {std::int64_t{0}, INT64_MAX})
    EXPECT_EQ(complaint("upsample", {{1, 2, 2, 3}}, to_size(4, size, "nearest")),
              message("upsample: size is [4,", size, "], expected a height and a width of 1 to 2147483647"));
  EXPECT_EQ(complaint("upsample", {{1, 1, std::int64_t{1} << 33, 1}}, to_size(1, 2147483647, "bilinear")),
            "the number of places between pixels is too large: 17179869184 * 2147483647");
  for (const std::int64_t width : {std::int64_t{0}, INT64_MIN}) {
    Attrs sizes = to_size(4, 4, "nearest");
    sizes.set("height", 2);
    sizes.set("width", width);
    EXPECT_EQ(complaint("upsample_grad", {{1, 4, 4, 3}}, sizes),
              message("upsample_grad: the image is of 2 * ", width, " pixels, expected at least 1 * 1"));
  }
}

TEST(UpsampleLayer, TakesAScaleOrASize) {
  Builder net({.batch = 2});
  const VarId x = net.input("image", {3, 4, 5});
  EXPECT_EQ(net.shape(net.layer("upsample", x, {{"scale", Ints{2, 3}}})), (Shape{2, 6, 12, 5}));
  EXPECT_EQ(net.shape(net.layer("Resize", x, {{"size", 7}, {"mode", "bilinear"}})), (Shape{2, 7, 7, 5}));
  EXPECT_TRUE(fails_with("'upsample' takes either 'scale' or 'size'", [&] { net.layer("upsample", x); }));
  EXPECT_TRUE(fails_with("'upsample' takes either 'scale' or 'size'", [&] {
    net.layer("upsample", x, {{"scale", 2}, {"size", 7}});
  }));
  EXPECT_TRUE(fails_with("'align_corners' is for mode bilinear", [&] {
    net.layer("upsample", x, {{"scale", 2}, {"align_corners", 1}});
  }));
  for (const char* key : {"scale", "size"})
    for (const std::int64_t value : {std::int64_t{0}, INT64_MAX})
      EXPECT_TRUE(fails_with(message("'", key, "' of 'upsample' is ", value, ", expected 1 to 2147483647"), [&] {
        net.layer("upsample", x, {{key, value}});
      }));
  EXPECT_TRUE(fails_with("expected an image", [&] { net.layer("upsample", net.input("row", {3}), {{"scale", 2}}); }));
}

TEST(PixelShuffle, TakesChannelsColumnRowDepth) {
  EXPECT_EQ(run_op("pixel_shuffle", {counted({1, 1, 2, 4})}, {{"r", 2}}),
            (Tensor{{1, 2, 4, 1}, {1, 2, 5, 6, 3, 4, 7, 8}}));
  EXPECT_EQ(run_op("pixel_shuffle", {counted({1, 1, 1, 8})}, {{"r", 2}}),
            (Tensor{{1, 2, 2, 2}, {1, 5, 2, 6, 3, 7, 4, 8}}));
}

TEST(PixelShuffle, IsUndone) {
  const Tensor x = counted({2, 2, 3, 18});
  EXPECT_EQ(run_op("pixel_unshuffle", {run_op("pixel_shuffle", {x}, {{"r", 3}})}, {{"r", 3}}), x);
}

TEST(PixelShuffle, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("pixel_shuffle", {{1, 2, 2, 6}}, {{"r", 2}}),
            "pixel_shuffle: input has 6 channels, which 2 * 2 does not divide");
  EXPECT_EQ(complaint("pixel_unshuffle", {{1, 2, 3, 6}}, {{"r", 2}}),
            "pixel_unshuffle: 2 does not divide an image of 2x3");
  EXPECT_EQ(complaint("pixel_shuffle", {{1, 2, 2, 6}}, {{"r", 0}}), "pixel_shuffle: r is 0, expected 1 to 32767");
  EXPECT_EQ(complaint("pixel_shuffle", {{2, 6}}, {{"r", 2}}), "pixel_shuffle: input [2,6] is no image [N,H,W,C]");
  Builder net({.batch = 1});
  const VarId x = net.input("image", {4, 4, 4});
  for (const char* layer : {"pixel_shuffle", "pixel_unshuffle"})
    EXPECT_TRUE(fails_with(message("'r' of '", layer, "' is 0, expected 1 to 32767"), [&] {
      net.layer(layer, x, {{"r", 0}});
    }));
}

const Tensor kPixels = counted({1, 2, 2, 2}), kKernel = counted({2, 2, 2, 1});

TEST(Conv2dTranspose, EveryPixelAddsItsMultipleOfTheKernel) {
  EXPECT_EQ(run_op("conv2d_transpose", {kPixels, kKernel, Tensor{{1}, {100}}},
                   {{"stride", Ints{2, 2}}, {"output_padding", Ints{1, 0}}}),
            (Tensor{{1, 5, 4, 1}, {111, 114, 123, 130, 117, 120, 137, 144, 135, 146,
                                   147, 162, 157, 168, 177, 192, 100, 100, 100, 100}}));
  EXPECT_EQ(run_op("conv2d_transpose", {kPixels, kKernel}, {{"pad", Ints{1, 1}}, {"dilation", Ints{2, 2}}}),
            (Tensor{{1, 2, 2, 1}, {47, 46, 37, 20}}));
}

TEST(Conv2dTranspose, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("conv2d_transpose", {{1, 2, 2, 3}, {4, 2, 2, 1}}),
            "conv2d_transpose: input has 3 channels, weight expects 4");
  EXPECT_EQ(complaint("conv2d_transpose", {{1, 2, 2, 3}, {3, 2, 2, 1}}, {{"output_padding", Ints{0, 1}}}),
            "conv2d_transpose: output_padding is 1, expected less than the stride 1");
  EXPECT_EQ(complaint("conv2d_transpose", {{1, 1, 1, 3}, {3, 2, 2, 1}}, {{"pad", Ints{1, 1}}}),
            "conv2d_transpose: padding 1 leaves nothing of the height");
  EXPECT_EQ(complaint("conv2d_transpose", {{1, 2, 2, 3}, {3, 2, 2, 1}}, {{"groups", 2}}),
            "conv2d_transpose: input has 3 channels, which 2 groups do not divide");
  EXPECT_EQ(complaint("conv2d_transpose", {{6, 3}, {3, 2, 2, 1}}),
            "conv2d_transpose: input is [6,3], expected an image [N,H,W,C]");
}

TEST(ConvTransposeLayer, HoldsWeightsAsPyTorchNamesThem) {
  Builder net({.batch = 2});
  const VarId y =
      net.layer("conv_transpose", net.input("image", {5, 6, 8}),
                {{"out", 4}, {"k", Ints{3, 2}}, {"stride", 2}, {"pad", 1}, {"output_padding", 1}, {"groups", 2}}, "up");
  EXPECT_EQ(net.shape(y), (Shape{2, 10, 11, 4}));
  const Network network = net.finish();
  ASSERT_EQ(network.params.size(), 2u);
  EXPECT_EQ(network.program.vars[network.params[0].var].shape, (Shape{8, 3, 2, 2}));
  EXPECT_EQ(network.params[0].layout, FileLayout{FileLayout::Conv}) << "[in, out / groups, kh, kw] in files";
  EXPECT_TRUE(network.params[0].decay);
}

TEST(Conv2dTranspose, SizesThat64BitsDoNotHoldAreRefused) {
  const auto refused = [](const char* key, std::int64_t value) {
    return complaint("conv2d_transpose", {{1, 2, 2, 3}, {3, 2, 2, 1}}, {{key, Ints{value, value}}});
  };
  EXPECT_EQ(refused("pad", INT64_MAX), "a padding is too large: 2 * 9223372036854775807");
  EXPECT_EQ(refused("dilation", INT64_MAX), "the reach of a kernel is too large: 9223372036854775807 + 1");
  EXPECT_EQ(complaint("conv2d_transpose", {{1, 3, 3, 3}, {3, 2, 2, 1}}, {{"stride", Ints{INT64_MAX, 1}}}),
            "conv2d_transpose: the height is too large: 2 * 9223372036854775807");
  EXPECT_EQ(complaint("conv2d_transpose", {{1, 2, 2, 3}, {3, 2, 2, 1}}, {{"groups", 0}}),
            "conv2d_transpose: groups is 0, expected at least 1");
  EXPECT_EQ(complaint("conv2d_transpose", {{1, 2, 2, 3}, {3, 0, 2, 1}}),
            "conv2d_transpose: weight is [3,0,2,1], sizes must be positive");
}

TEST(ConvTransposeLayer, SettingsHaveRanges) {
  Builder net({.batch = 1});
  const VarId x = net.input("image", {5, 6, 2});
  for (const char* key : {"k", "stride", "dilation", "pad", "output_padding"}) {
    Attrs settings{{"out", 3}, {"k", 3}};
    for (const std::int64_t value : {std::int64_t{-1}, INT64_MAX}) {
      settings.set(key, value);
      EXPECT_TRUE(fails_with(message("'", key, "' of 'conv_transpose' is ", value, ", expected "),
                             [&] { net.layer("conv_transpose", x, settings); }));
    }
  }
}

TEST(ConvTransposeLayer, SamePaddingKeepsTheSize) {
  Builder net({.batch = 1});
  const VarId x = net.input("image", {5, 6, 2});
  EXPECT_EQ(net.shape(net.layer("conv_transpose", x, {{"out", 3}, {"k", 3}, {"pad", "same"}})), (Shape{1, 5, 6, 3}));
  EXPECT_TRUE(fails_with("3 groups do not divide 2 channels and 3 filters", [&] {
    net.layer("conv_transpose", x, {{"out", 3}, {"k", 3}, {"groups", 3}});
  }));
}

}  // namespace
}  // namespace lethe::testing
