#include <gtest/gtest.h>

#include <cmath>

#include "framework/builder/builder.h"
#include "tests/support/interpreter.h"
#include "tests/support/run_layer.h"

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
  EXPECT_EQ(complaint("avg_pool", {{1, 4, 4, 1}}, window(3, 1, 3)),
            "avg_pool: padding 3, expected less than the 3 positions that a window reaches over");
  Attrs apart = window(2, 1, 3);
  apart.set("dilation", Ints{5, 5});
  EXPECT_EQ(complaint("max_pool", {{1, 4, 4, 1}}, apart),
            "max_pool: a window's positions, 5 apart, could all miss the 4 of the input");
  EXPECT_EQ(complaint("max_pool", {{4, 4}}, window(2, 2, 0)), "max_pool: input [4,4] is no image [N,H,W,C]");
  Attrs one = window(2, 2, 0);
  one.set("pad", Ints{0});
  EXPECT_EQ(complaint("max_pool", {{1, 4, 4, 1}}, one), "max_pool: pad is [0], expected height and width");
}

/// One axis of a pooling by its definition: the positions of each window, those outside of the input too.
std::vector<Ints> windows_of(std::int64_t in, std::int64_t k, std::int64_t stride, std::int64_t pad, std::int64_t after,
                             std::int64_t dilation, bool ceil) {
  std::vector<Ints> windows;
  const std::int64_t reach = (k - 1) * dilation + 1;
  for (std::int64_t start = -pad; start < in; start += stride) {
    const bool fits = start + reach <= in + after;
    if (!fits && !(ceil && start + reach - stride < in + after)) break;
    windows.emplace_back();
    for (std::int64_t at = 0; at < k; ++at) windows.back().push_back(start + at * dilation);
  }
  return windows;
}

/// What pooling x [1, H, W, 1] is, window by window.
struct Pooled {
  std::vector<double> most, mean, mean_inside;
};
Pooled pooled_by_definition(const Tensor& x, const std::vector<Ints>& rows, const std::vector<Ints>& columns,
                            std::int64_t after) {
  Pooled pooled;
  const std::int64_t height = x.shape[1], width = x.shape[2];
  for (const Ints& window_rows : rows)
    for (const Ints& window_columns : columns) {
      double most = -INFINITY, sum = 0, inside = 0, padded = 0;
      for (const std::int64_t r : window_rows)
        for (const std::int64_t s : window_columns) {
          if (r < height + after && s < width + after) ++padded;
          if (r < 0 || r >= height || s < 0 || s >= width) continue;
          const double value = x.values[static_cast<std::size_t>(r * width + s)];
          most = std::max(most, value), sum += value, ++inside;
        }
      pooled.most.push_back(most);
      pooled.mean.push_back(sum / padded);
      pooled.mean_inside.push_back(sum / inside);
    }
  return pooled;
}

TEST(Pool, FollowsItsDefinitionWithUnevenPadsAndDilation) {
  Tensor x = counted({1, 7, 9, 1});
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] = static_cast<double>(i * 37 % 64) - 32;
  int tried = 0;
  for (const std::int64_t k : {1, 2, 3})
    for (const std::int64_t stride : {1, 2, 3})
      for (const std::int64_t dilation : {1, 2, 3})
        for (const std::int64_t pad : {0, 1, 2, 4})
          for (const std::int64_t after : {0, 1, 3})
            for (const bool ceil : {false, true}) {
              if (std::max(pad, after) > (k - 1) * dilation) continue;
              Attrs attrs = window(k, stride, pad, ceil);
              attrs.set("after", Ints{after, after});
              attrs.set("dilation", Ints{dilation, dilation});
              const auto along = [&](std::int64_t in) { return windows_of(in, k, stride, pad, after, dilation, ceil); };
              const std::vector<Ints> rows = along(7), columns = along(9);
              const Pooled expected = pooled_by_definition(x, rows, columns, after);
              const Shape shape{1, static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns.size()),
                                1};
              SCOPED_TRACE(
                  message(k, " every ", stride, ", pads ", pad, " and ", after, ", dilation ", dilation, ceil));
              EXPECT_EQ(run_op("max_pool", {x}, attrs), (Tensor{shape, expected.most}));
              EXPECT_EQ(run_op("max_pool_value", {x}, attrs), (Tensor{shape, expected.most}));
              EXPECT_EQ(run_op("avg_pool", {x}, attrs), (Tensor{shape, expected.mean}));
              attrs.set("count_include_pad", false);
              EXPECT_EQ(run_op("avg_pool", {x}, attrs), (Tensor{shape, expected.mean_inside}));
              ++tried;
            }
  EXPECT_GE(tried, 200);
}

TEST(Pool, LayersTakeUnevenPadsAndDilation) {
  const Tensor row{{1, 1, 5, 1}, {1, 2, 3, 4, 5}};
  const Attrs apart{{"k", Ints{1, 2}}, {"stride", 1}, {"dilation", Ints{1, 2}}};
  EXPECT_EQ(run_layer("max_pool", row, apart), (Tensor{{1, 1, 3, 1}, {3, 4, 5}}));
  EXPECT_EQ(run_layer("avg_pool", row, apart), (Tensor{{1, 1, 3, 1}, {2, 3, 4}}));
  Attrs after{{"k", Ints{1, 2}}, {"after", Ints{0, 1}}};
  EXPECT_EQ(run_layer("max_pool", row, after), (Tensor{{1, 1, 3, 1}, {2, 4, 5}}));
  EXPECT_EQ(run_layer("avg_pool", row, after), (Tensor{{1, 1, 3, 1}, {1.5, 3.5, 2.5}}));
  after.set("count_include_pad", 0);
  EXPECT_EQ(run_layer("avg_pool", row, after), (Tensor{{1, 1, 3, 1}, {1.5, 3.5, 5}}));
}

}  // namespace
}  // namespace lethe::testing
