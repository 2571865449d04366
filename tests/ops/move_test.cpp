// Slice, concat, transpose, pad, pad_channels and the views.
#include <gtest/gtest.h>

#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

TEST(Slice, CutsARangeOfAnAxis) {
  const Tensor x = counted({2, 3, 2});
  EXPECT_EQ(run_op("slice", {x}, {{"axis", 1}, {"begin", 1}, {"end", 3}}),
            (Tensor{{2, 2, 2}, {3, 4, 5, 6, 9, 10, 11, 12}}));
  EXPECT_EQ(run_op("slice", {x}, {{"axis", 2}, {"begin", 1}, {"end", 2}}), (Tensor{{2, 3, 1}, {2, 4, 6, 8, 10, 12}}));
  EXPECT_TRUE(fails_with("slice: [2, 4) is no part of 3 along axis 1", [&] {
    run_op("slice", {x}, {{"axis", 1}, {"begin", 2}, {"end", 4}});
  }));
}

TEST(Concat, PutsChannelsSideBySide) {
  EXPECT_EQ(run_op("concat", {counted({2, 2}), {{2, 1}, {-1, -2}}, {{2, 1}, {-3, -4}}}, {{"axis", 1}}),
            (Tensor{{2, 4}, {1, 2, -1, -3, 3, 4, -2, -4}}));
}

TEST(Concat, WorksOnEveryWidthOfElement) {
  for (const DType dtype : {DType::u8, DType::bf16, DType::i32, DType::i64})
    EXPECT_EQ(run_op("concat", {counted({2}, dtype), counted({1}, dtype)}, {{"axis", 0}}),
              (Tensor{{3}, {1, 2, 1}, dtype}));
}

TEST(Concat, NamesTheInputThatDoesNotFit) {
  EXPECT_TRUE(fails_with("concat: input 1 is f64[3,2], the first is f64[2,2]; only axis 1 may differ", [] {
    run_op("concat", {counted({2, 2}), counted({3, 2})}, {{"axis", 1}});
  }));
}

TEST(Transpose, SwapsRowsAndColumns) {
  EXPECT_EQ(run_op("transpose", {counted({2, 3})}, {{"perm", Ints{1, 0}}}), (Tensor{{3, 2}, {1, 4, 2, 5, 3, 6}}));
  EXPECT_EQ(run_op("transpose", {counted({2, 2, 2})}, {{"perm", Ints{2, 0, 1}}}),
            (Tensor{{2, 2, 2}, {1, 3, 5, 7, 2, 4, 6, 8}}));
}

TEST(Transpose, LayerCountsAxesAsFilesDo) {
  Builder net({.batch = 2});
  const VarId image = net.input("image", {4, 5, 3}), words = net.input("words", {6, 7});
  // [C, H, W] = [3, 4, 5] becomes [H, C, W] = [4, 3, 5], which is [3, 5, 4] in memory.
  EXPECT_EQ(net.shape(net.layer("transpose", image, {{"perm", Ints{1, 0, 2}}})), (Shape{2, 3, 5, 4}));
  EXPECT_EQ(net.shape(net.layer("transpose", words, {{"perm", Ints{1, 0}}})), (Shape{2, 7, 6}));
}

TEST(Pad, PutsZerosAround) {
  EXPECT_EQ(run_op("pad", {counted({2, 2})}, {{"before", Ints{1, 0}}, {"after", Ints{0, 2}}}),
            (Tensor{{3, 4}, {0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0}}));
}

TEST(PadChannels, TakesEverySecondPixelAndPutsZerosOnBothSides) {
  // Of the three new channels one (half, rounded down) stands in front, two after.
  EXPECT_EQ(run_op("pad_channels", {counted({1, 3, 3, 1})}, {{"out", 4}, {"stride", Ints{2, 2}}}),
            (Tensor{{1, 2, 2, 4}, {0, 1, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0}}));
}

TEST(PadChannels, RefusesFewerChannels) {
  EXPECT_TRUE(fails_with("pad_channels: out is 2, input has 3 channels", [] {
    run_op("pad_channels", {counted({1, 2, 2, 3})}, {{"out", 2}, {"stride", Ints{1, 1}}});
  }));
}

TEST(Reshape, FillsInTheOpenSize) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {12});
  EXPECT_EQ(net.shape(net.layer("reshape", x, {{"shape", Ints{3, 2, 2}}, {"layout", "image"}})), (Shape{2, 2, 2, 3}));
  EXPECT_EQ(net.shape(net.layer("reshape", x, {{"shape", Ints{-1, 4}}})), (Shape{2, 3, 4}));
  EXPECT_TRUE(fails_with("r: reshape: [2,12] has 24 elements, they do not fill [2,5,-1]", [&] {
    net.layer("reshape", x, {{"shape", Ints{5, -1}}}, "r");
  }));
}

TEST(Flatten, MakesARowOfEachSample) {
  Builder net({.batch = 2});
  EXPECT_EQ(net.shape(net.layer("flatten", net.input("image", {4, 5, 3}))), (Shape{2, 60}));
}

TEST(Identity, IsItsInput) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {3});
  EXPECT_EQ(net.layer("identity", x), x);
  EXPECT_TRUE(net.program().blocks[0].ops.empty());
}

TEST(Constant, IsAScalarOrAShapeForEachSample) {
  Builder net({.batch = 2, .dtype = DType::f64});
  const VarId x = net.input("x", {3});
  EXPECT_EQ(net.shape(net.layer("constant", x, {{"value", 0.5}})), Shape{});
  const VarId image = net.layer("constant", x, {{"value", 0.5}, {"shape", Ints{3, 4, 5}}, {"layout", "image"}});
  EXPECT_EQ(text_of(net.program().vars[image]), "f64[2,4,5,3]");
}

}  // namespace
}  // namespace lethe::testing
