#include <gtest/gtest.h>

#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

const Tensor kX = counted({2, 2, 3});

TEST(Broadcast, ChannelsAreAddedToEveryPixel) {
  EXPECT_EQ(run_op("add", {kX, {{1, 1, 3}, {10, 20, 30}}}),
            (Tensor{{2, 2, 3}, {11, 22, 33, 14, 25, 36, 17, 28, 39, 20, 31, 42}}));
}

TEST(Broadcast, EachSampleIsScaledByItsOwnNumber) {
  EXPECT_EQ(run_op("mul", {kX, {{2, 1, 1}, {1, -1}}}),
            (Tensor{{2, 2, 3}, {1, 2, 3, 4, 5, 6, -7, -8, -9, -10, -11, -12}}));
}

TEST(Broadcast, AMiddleAxisAndAScalarAreSubtracted) {
  EXPECT_EQ(run_op("sub", {kX, {{1, 2, 1}, {1, 4}}}), (Tensor{{2, 2, 3}, {0, 1, 2, 0, 1, 2, 6, 7, 8, 6, 7, 8}}));
  EXPECT_EQ(run_op("sub", {counted({3}), {{}, {2}}}), (Tensor{{3}, {-1, 0, 1}}));
}

TEST(Broadcast, RowsLongerThanAThreadsShareAreWhole) {
  const std::int64_t rows = 3, columns = 20000;
  Tensor x{{rows, columns}, std::vector<double>(static_cast<std::size_t>(rows * columns), 1.0), DType::f32};
  const Tensor y = run_op("mul", {x, {{rows, 1}, {1, 2, 3}, DType::f32}});
  for (std::int64_t i = 0; i < rows * columns; ++i)
    ASSERT_EQ(y.values[static_cast<std::size_t>(i)], static_cast<double>(i / columns + 1)) << i;
}

TEST(Broadcast, ShapesThatDoNotFitAreNamed) {
  EXPECT_TRUE(fails_with(
      "add: shapes [2,3] and [2,2] do not fit; the second is as the first, a scalar, or 1 along some axes", [] {
        run_op("add", {counted({2, 3}), counted({2, 2})});
      }));
}

TEST(Broadcast, LayersThatCommuteTakeTheSmallerInputFirstToo) {
  Builder net({.batch = 2});
  const VarId gate = net.input("gate", {1, 1, 3}), image = net.input("image", {4, 4, 3});
  EXPECT_EQ(net.shape(net.layer("mul", {gate, image})), (Shape{2, 4, 4, 3}));
}

TEST(Expand, RepeatsAlongAxesOfOne) {
  EXPECT_EQ(run_op("expand", {counted({1, 2})}, {{"shape", Ints{3, -1}}}), (Tensor{{3, 2}, {1, 2, 1, 2, 1, 2}}));
  EXPECT_EQ(run_op("expand", {counted({2, 1, 2})}, {{"shape", Ints{2, 2, 2}}}),
            (Tensor{{2, 2, 2}, {1, 2, 1, 2, 3, 4, 3, 4}}));
  EXPECT_EQ(run_op("expand", {{{}, {7}, DType::i32}}, {{"shape", Ints{2, 2}}}),
            (Tensor{{2, 2}, {7, 7, 7, 7}, DType::i32}));
}

TEST(Expand, RefusesOtherShapes) {
  EXPECT_EQ(complaint("expand", {{2, 3}}, {{"shape", Ints{4, 3}}}), "expand: [2,3] does not broadcast to [4,3]");
  EXPECT_EQ(complaint("expand", {{1, 3}}, {{"shape", Ints{0, 3}}}), "expand: [1,3] does not broadcast to [0,3]");
  EXPECT_EQ(complaint("expand", {{3}}, {{"shape", Ints{2, 3}}}), "expand: [3] does not broadcast to [2,3]");
  EXPECT_EQ(complaint("expand", {{}}, {{"shape", Ints{-1}}}), "expand: [] does not broadcast to [-1]");
}

TEST(ExpandLayer, TakesTheShapeOfASample) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {3, 1, 4}, DType::f32, Layout::Plain), row = net.input("row", {4});
  const VarId image = net.input("image", {1, 1, 3});
  EXPECT_EQ(net.shape(net.layer("expand", x, {{"shape", Ints{3, 5, 4}}})), (Shape{2, 3, 5, 4}));
  EXPECT_EQ(net.shape(net.layer("expand", x, {{"shape", Ints{1, 5, 1}}})), (Shape{2, 3, 5, 4}));
  EXPECT_EQ(net.shape(net.layer("expand", row, {{"shape", Ints{5, 4}}})), (Shape{2, 5, 4}));
  EXPECT_EQ(net.layer("expand", x, {{"shape", Ints{3, 1, 4}}}), x);
  const VarId wide = net.layer("expand", image, {{"shape", Ints{3, 4, 5}}});
  EXPECT_EQ(net.shape(wide), (Shape{2, 4, 5, 3}));
  EXPECT_TRUE(net.is_image(wide));
  const VarId learned = net.layer("parameter", row, {{"shape", Ints{1, 4}}});
  EXPECT_EQ(net.shape(net.layer("expand", learned, {{"shape", Ints{3, 4}}})), (Shape{1, 3, 4}));
  EXPECT_EQ(net.shape(net.layer("expand", {learned, row}, {{"shape", Ints{3, 4}}})), (Shape{2, 3, 4}));
  EXPECT_EQ(net.shape(net.layer("expand", {x, row}, {{"shape", Ints{3, 5, 4}}})), (Shape{2, 3, 5, 4}));
}

TEST(ExpandLayer, AColumnOfAnImageIsOneAlongItsStatedAxes) {
  Builder net({.batch = 2});
  const VarId row = net.input("row", {5});
  const VarId image = net.layer("expand", row, {{"shape", Ints{3, 4, 5}}, {"layout", "image"}});
  EXPECT_EQ(net.shape(image), (Shape{2, 4, 5, 3}));
  EXPECT_EQ(net.shape(net.program().blocks[0].ops[0].out[0]), (Shape{2, 1, 5, 1}));
  EXPECT_TRUE(fails_with("expand: [2,5] does not broadcast to [-1,4]", [&] {
    net.layer("expand", row, {{"shape", Ints{4}}});
  }));
}

TEST(SumTo, AddsUpWhatWasBroadcast) {
  EXPECT_EQ(run_op("sum_to", {kX}, {{"shape", Ints{1, 1, 3}}}), (Tensor{{1, 1, 3}, {22, 26, 30}}));
  EXPECT_EQ(run_op("sum_to", {kX}, {{"shape", Ints{2, 1, 1}}}), (Tensor{{2, 1, 1}, {21, 57}}));
  EXPECT_EQ(run_op("sum_to", {kX}, {{"shape", Ints{1, 2, 1}}}), (Tensor{{1, 2, 1}, {30, 48}}));
  EXPECT_EQ(run_op("sum_to", {kX}, {{"shape", Ints{}}}), (Tensor{{}, {78}}));
}

TEST(SumTo, MultipliesByTheFactorFirst) {
  EXPECT_EQ(run_op("sum_to", {counted({2, 2}), counted({2, 2})}, {{"shape", Ints{2, 1}}}), (Tensor{{2, 1}, {5, 25}}));
}

TEST(SumTo, TakesMoreElementsThanAChunkHolds) {
  const Tensor ones{{70, 5000}, std::vector<double>(350000, 1.0), DType::f32};
  EXPECT_EQ(run_op("sum_to", {ones}, {{"shape", Ints{}}}), (Tensor{{}, {350000}, DType::f32}));
  EXPECT_EQ(run_op("sum_to", {ones}, {{"shape", Ints{70, 1}}}),
            (Tensor{{70, 1}, std::vector<double>(70, 5000.0), DType::f32}));
}

TEST(SumN, AddsFromLeftToRight) {
  // 2^53 + 1 + 1 is 2^53 from the left, 2^53 + 2 from the right.
  const double big = 9007199254740992.0;
  EXPECT_EQ(run_op("sum_n", {{{1}, {big}}, {{1}, {1}}, {{1}, {1}}}), (Tensor{{1}, {big}}));
  EXPECT_EQ(run_op("sum_n", {{{1}, {1}}, {{1}, {1}}, {{1}, {big}}}), (Tensor{{1}, {big + 2}}));
}

}  // namespace
}  // namespace lethe::testing
