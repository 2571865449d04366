#include <gtest/gtest.h>

#include "framework/builder/builder.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

TEST(Conv2d, SumsProductsUnderTheKernel) {
  // 1 2 3      1 2
  // 4 5 6  by  3 4
  // 7 8 9
  EXPECT_EQ(run_op("conv2d", {counted({1, 3, 3, 1}), counted({1, 2, 2, 1}), {}}),
            (Tensor{{1, 2, 2, 1}, {1 + 4 + 12 + 20, 2 + 6 + 15 + 24, 4 + 10 + 21 + 32, 5 + 12 + 24 + 36}}));
}

TEST(Conv2d, AddsTheBiasOfEachFilter) {
  const Tensor weight{{2, 1, 1, 1}, {1, 10}}, bias{{2}, {0.5, -1}};
  EXPECT_EQ(run_op("conv2d", {counted({1, 1, 2, 1}), weight, bias}), (Tensor{{1, 1, 2, 2}, {1.5, 9, 2.5, 19}}));
}

TEST(Conv2d, PadsWithZeros) {
  const Tensor ones{{1, 3, 3, 1}, std::vector<double>(9, 1)};
  EXPECT_EQ(run_op("conv2d", {counted({1, 2, 2, 1}), ones, {}}, {{"pad", Ints{1, 1}}}),
            (Tensor{{1, 2, 2, 1}, {10, 10, 10, 10}}));
}

TEST(Conv2d, StridesAndPadsDifferByAxis) {
  const Tensor one{{1, 1, 1, 1}, {1}};
  EXPECT_EQ(run_op("conv2d", {counted({1, 3, 4, 1}), one, {}}, {{"stride", Ints{2, 3}}, {"pad", Ints{0, 1}}}),
            (Tensor{{1, 2, 2, 1}, {0, 3, 0, 11}}));
}

TEST(Conv2d, DilationSpreadsTheKernel) {
  EXPECT_EQ(run_op("conv2d", {counted({1, 1, 5, 1}), Tensor{{1, 1, 2, 1}, {1, 10}}, {}}, {{"dilation", Ints{1, 3}}}),
            (Tensor{{1, 1, 2, 1}, {41, 52}}));
}

TEST(Conv2d, GroupsSeeTheirOwnChannels) {
  const Tensor weight{{2, 1, 1, 2}, {1, 10, 100, 1000}};
  EXPECT_EQ(run_op("conv2d", {counted({1, 1, 1, 4}), weight, {}}, {{"groups", 2}}), (Tensor{{1, 1, 1, 2}, {21, 4300}}));
}

TEST(Conv2d, ChannelsAreInnermost) {
  const Tensor weight{{1, 1, 2, 2}, {1, 10, 100, 1000}};
  EXPECT_EQ(run_op("conv2d", {counted({1, 1, 2, 2}), weight, {}}), (Tensor{{1, 1, 1, 1}, {4321}}));
}

TEST(Conv2d, GradientOfTheBiasIsTheSumOverPositions) {
  EXPECT_EQ(run_op("bias_grad", {counted({2, 1, 2, 2})}), (Tensor{{2}, {1 + 3 + 5 + 7, 2 + 4 + 6 + 8}}));
  Tensor many{{5, 201, 3}, std::vector<double>(5 * 201 * 3, 1)};
  EXPECT_EQ(run_op("bias_grad", {many}), (Tensor{{3}, {1005, 1005, 1005}}));
}

TEST(Conv2d, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("conv2d", {{1, 8, 8, 3}, {16, 3, 3, 4}}), "conv2d: input has 3 channels, filter expects 4");
  EXPECT_EQ(complaint("conv2d", {{8, 3}, {16, 3, 3, 3}}), "conv2d: input is [8,3], expected an image [N,H,W,C]");
  EXPECT_EQ(complaint("conv2d", {{1, 8, 8, 3}, {16, 3, 3, 1}}, {{"groups", 2}}),
            "conv2d: input has 3 channels, which 2 groups do not divide");
  EXPECT_EQ(complaint("conv2d", {{1, 8, 8, 4}, {15, 3, 3, 2}}, {{"groups", 2}}),
            "conv2d: there are 15 filters, which 2 groups do not divide");
  EXPECT_EQ(complaint("conv2d", {{1, 4, 9, 3}, {16, 7, 7, 3}}, {{"pad", Ints{1, 1}}}),
            "conv2d: kernel reaches over 7 pixels of height, the padded input has 6");
  EXPECT_EQ(complaint("conv2d", {{1, 9, 4, 3}, {16, 3, 3, 3}}, {{"dilation", Ints{1, 2}}}),
            "conv2d: kernel reaches over 5 pixels of width, the padded input has 4");
  EXPECT_EQ(complaint("conv2d", {{1, 8, 8, 3}, {16, 3, 3, 3}}, {{"stride", Ints{0, 1}}}),
            "conv2d: stride is [0,1], expected at least 1");
  EXPECT_EQ(complaint("conv2d", {{1, 8, 8, 3}, {16, 3, 3, 3}, {15}}), "conv2d: bias is [15], expected [16]");
  EXPECT_EQ(complaint("conv2d", {{1, 8, 8, 3}, {16, 0, 3, 3}}), "conv2d: weight is [16,0,3,3], sizes must be positive");
}

TEST(ConvLayer, MakesWeightAndBiasAndKeepsTheImageSize) {
  Builder net({.batch = 2});
  const VarId y = net.layer("conv", net.input("image", {9, 7, 6}), {{"out", 4}, {"k", Ints{3, 5}}, {"groups", 2}}, "c");
  EXPECT_EQ(net.shape(y), (Shape{2, 9, 7, 4}));
  const Network network = net.finish();
  ASSERT_EQ(network.params.size(), 2u);
  const ParamInfo &weight = network.params[0], &bias = network.params[1];
  EXPECT_EQ(network.program.vars[weight.var].name, "c.weight");
  EXPECT_EQ(network.program.vars[weight.var].shape, (Shape{4, 3, 5, 3}));
  EXPECT_EQ(weight.layout, FileLayout{FileLayout::Conv});
  EXPECT_EQ(weight.init, (Init{.kind = Init::He, .fan_in = 45, .fan_out = 30}));
  EXPECT_TRUE(weight.decay);
  EXPECT_EQ(network.program.vars[bias.var].name, "c.bias");
  EXPECT_EQ(network.program.vars[bias.var].shape, (Shape{4}));
  EXPECT_FALSE(bias.decay);
}

TEST(ConvLayer, BiasCanBeLeftOut) {
  Builder net({});
  net.layer("conv", net.input("image", {8, 8, 3}),
            {{"out", 4}, {"k", 3}, {"bias", 0}, {"stride", 2}, {"pad", "valid"}});
  EXPECT_EQ(net.parameters(), 4 * 3 * 3 * 3);
}

TEST(ConvLayer, RefusesGroupsThatDoNotDivide) {
  Builder net({});
  const VarId image = net.input("image", {8, 8, 3});
  EXPECT_THROW(net.layer("conv", image, {{"out", 4}, {"k", 3}, {"groups", 2}}), Error);
  EXPECT_THROW(net.layer("conv", image, {{"out", 4}, {"k", 3}, {"groups", 0}}), Error);
  EXPECT_THROW(net.layer("conv", net.input("row", {8}), {{"out", 4}, {"k", 3}}), Error);
}

}  // namespace
}  // namespace lethe::testing
