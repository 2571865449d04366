#include <gtest/gtest.h>

#include <cmath>

#include "framework/builder/builder.h"
#include "tests/support/interpreter.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

Attrs window(std::int64_t k, std::int64_t stride, std::int64_t pad, bool ceil = false) {
  return {{"k", Ints{k, k}}, {"stride", Ints{stride, stride}}, {"pad", Ints{pad, pad}}, {"ceil_mode", ceil}};
}

Shape pooled(std::int64_t size, const Attrs& attrs) {
  return run_op("max_pool", {counted({1, size, size, 1})}, attrs).shape;
}

TEST(MaxPool, TakesTheLargestOfEachWindow) {
  EXPECT_EQ(run_op("max_pool", {counted({1, 2, 4, 1})}, window(2, 2, 0)), (Tensor{{1, 1, 2, 1}, {6, 8}}));
  EXPECT_EQ(run_op("max_pool", {counted({1, 2, 2, 2})}, window(2, 2, 0)), (Tensor{{1, 1, 1, 2}, {7, 8}}));
}

TEST(MaxPool, PaddingNeverWins) {
  const Tensor x{{1, 2, 2, 1}, {-4, -3, -2, -INFINITY}};
  EXPECT_EQ(run_op("max_pool", {x}, window(3, 2, 1)), (Tensor{{1, 1, 1, 1}, {-2}}));
  EXPECT_EQ(run_op("max_pool", {x}, window(2, 2, 1)), (Tensor{{1, 2, 2, 1}, {-4, -3, -2, -INFINITY}}));
}

TEST(MaxPool, NanWins) {
  const Tensor x{{1, 1, 4, 1}, {NAN, 9, 9, NAN}};
  const Attrs attrs{{"k", Ints{1, 2}}, {"stride", Ints{1, 1}}, {"pad", Ints{0, 0}}};
  const Tensor y = run_op("max_pool", {x}, attrs);
  EXPECT_TRUE(std::isnan(y.values[0]) && std::isnan(y.values[2]));
  EXPECT_EQ(y.values[1], 9);
}

TEST(MaxPool, CeilModeFollowsPyTorch) {
  EXPECT_EQ(pooled(6, window(3, 2, 0)), (Shape{1, 2, 2, 1}));
  EXPECT_EQ(pooled(6, window(3, 2, 0, true)), (Shape{1, 3, 3, 1}));
  EXPECT_EQ(pooled(5, window(2, 2, 1, true)), (Shape{1, 3, 3, 1}));  // a fourth would begin in the padding after
  EXPECT_EQ(pooled(112, window(3, 2, 1)), (Shape{1, 56, 56, 1}));
}

TEST(MaxPool, GradientGoesToThePlaceThatWon) {
  // Windows of two with stride one over 1 5 2: both choose 5, which is place 1 of the first and 0 of the second.
  const Attrs attrs{{"k", Ints{1, 2}}, {"stride", Ints{1, 1}}, {"pad", Ints{0, 0}}, {"height", 1}, {"width", 3}};
  const Tensor index{{1, 1, 2, 1}, {1, 0}, DType::u8}, dy{{1, 1, 2, 1}, {10, 100}};
  EXPECT_EQ(run_op("max_pool_grad", {index, dy}, attrs), (Tensor{{1, 1, 3, 1}, {0, 110, 0}}));
}

TEST(MaxPool, OfEqualValuesTheFirstTakesTheGradient) {
  Program program;
  const VarId x = add_var(program, {.name = "x", .shape = {1, 2, 2, 1}, .dtype = DType::f64, .kind = Kind::Input});
  const auto out = append_op(program, 0, Role::Forward, "max_pool", {x}, window(2, 2, 0), "pool");
  Interpreter values(program);
  for (int i = 0; i < 4; ++i) values.set(x, i, i == 0 ? 1 : 7);
  values.run();
  EXPECT_EQ(values.number(out[1]), 1);
}

TEST(MaxPool, IndexIsAByteWhereTheWindowIsSmall) {
  Program program;
  const VarId x = add_var(program, {.name = "x", .shape = {1, 32, 32, 1}, .kind = Kind::Input});
  const auto dtype = [&](std::int64_t k) {
    return program.vars[append_op(program, 0, Role::Forward, "max_pool", {x}, window(k, 1, 0), "pool")[1]].dtype;
  };
  EXPECT_EQ(dtype(15), DType::u8);
  EXPECT_EQ(dtype(16), DType::i32);
}

TEST(AvgPool, CountsPaddingUnlessToldOtherwise) {
  Attrs attrs = window(2, 2, 1);
  const Tensor x{{1, 2, 2, 1}, {4, 8, 12, 16}};
  EXPECT_EQ(run_op("avg_pool", {x}, attrs), (Tensor{{1, 2, 2, 1}, {1, 2, 3, 4}}));
  attrs.set("count_include_pad", false);
  EXPECT_EQ(run_op("avg_pool", {x}, attrs), (Tensor{{1, 2, 2, 1}, {4, 8, 12, 16}}));
}

TEST(AvgPool, WhatCeilModeAddsAfterThePaddingIsNotCounted) {
  const Attrs attrs{{"k", Ints{1, 2}}, {"stride", Ints{1, 2}}, {"pad", Ints{0, 0}}, {"ceil_mode", true}};
  EXPECT_EQ(run_op("avg_pool", {Tensor{{1, 1, 3, 1}, {2, 4, 10}}}, attrs), (Tensor{{1, 1, 2, 1}, {3, 10}}));
}

TEST(AvgPool, GradientIsSharedOut) {
  Attrs attrs = window(2, 1, 0);
  attrs.set("height", 2);
  attrs.set("width", 3);
  EXPECT_EQ(run_op("avg_pool_grad", {Tensor{{1, 1, 2, 1}, {4, 8}}}, attrs), (Tensor{{1, 2, 3, 1}, {1, 3, 2, 1, 3, 2}}));
}

TEST(GlobalAvgPool, IsTheMeanOfEachChannel) {
  EXPECT_EQ(run_op("global_avg_pool", {counted({2, 1, 2, 2})}), (Tensor{{2, 2}, {2, 3, 6, 7}}));
  EXPECT_EQ(run_op("global_avg_pool_grad", {Tensor{{1, 2}, {4, 8}}}, {{"height", 1}, {"width", 2}}),
            (Tensor{{1, 1, 2, 2}, {2, 4, 2, 4}}));
}

TEST(Pool, LayersStrideByTheirWindowUnlessToldOtherwise) {
  Builder net({.batch = 1});
  const VarId image = net.input("image", {9, 9, 2});
  EXPECT_EQ(net.shape(net.layer("max_pool", image, {{"k", 3}})), (Shape{1, 3, 3, 2}));
  EXPECT_EQ(net.shape(net.layer("avg_pool", image, {{"k", 3}, {"stride", 2}, {"pad", "same"}})), (Shape{1, 5, 5, 2}));
  EXPECT_EQ(net.shape(net.layer("max_pool", image, {{"k", 2}, {"stride", 2}, {"ceil", true}})), (Shape{1, 5, 5, 2}));
  EXPECT_EQ(net.shape(net.layer("GlobalAveragePool", image)), (Shape{1, 2}));
}

TEST(Pool, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("max_pool", {{1, 4, 4, 1}}, window(5, 1, 0)),
            "max_pool: a window of 5 does not fit 4 positions with padding 0");
  EXPECT_EQ(complaint("avg_pool", {{1, 4, 4, 1}}, window(3, 1, 2)),
            "avg_pool: padding 2 is more than half of the window 3");
  EXPECT_EQ(complaint("max_pool", {{4, 4}}, window(2, 2, 0)), "max_pool: input [4,4] is no image [N,H,W,C]");
  Attrs one = window(2, 2, 0);
  one.set("pad", Ints{0});
  EXPECT_EQ(complaint("max_pool", {{1, 4, 4, 1}}, one), "max_pool: pad is [0], expected height and width");
}

}  // namespace
}  // namespace lethe::testing
