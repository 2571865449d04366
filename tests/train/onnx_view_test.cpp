// How values of ONNX models are read in the memory of our layers.
#include <gtest/gtest.h>

#include "onnx/view.h"

namespace lethe::onnx {
namespace {

constexpr std::int64_t kBatch = 7;

TEST(OnnxView, AnImageLiesWithItsChannelsLast) {
  const View image = image_view("x", {3, 4, 5});
  EXPECT_EQ(image.memory, (Shape{4, 5, 3}));
  EXPECT_EQ(shape_of(image, kBatch), (Shape{kBatch, 3, 4, 5}));
  EXPECT_EQ(order_of(image), (Ints{2, 0, 1}));
  const View last = transposed(image, {0, 2, 3, 1});
  EXPECT_EQ(shape_of(last, kBatch), (Shape{kBatch, 4, 5, 3}));
  EXPECT_TRUE(is_in_order(order_of(last))) << "channels last are as they lie";
}

TEST(OnnxView, ReshapesWithoutMoving) {
  const View rows = plain_view("x", {6, 8});
  const auto heads = reshaped(rows, {kBatch, 6, 2, 4}, kBatch);
  ASSERT_TRUE(heads);
  EXPECT_EQ(heads->memory, (Shape{6, 2, 4}));
  const View turned = transposed(*heads, {0, 2, 1, 3});
  EXPECT_EQ(shape_of(turned, kBatch), (Shape{kBatch, 2, 6, 4}));
  const auto back = reshaped(transposed(turned, {0, 2, 1, 3}), {kBatch, 6, 8}, kBatch);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->memory, rows.memory);
  const auto cut = reshaped(plain_view("x", {2, 3, 4}), {kBatch, 4, 2, 3}, kBatch);
  ASSERT_TRUE(cut) << "24 numbers one after another";
  EXPECT_EQ(cut->memory, (Shape{4, 2, 3}));
  // The batch may join other axes, and leave them.
  const auto joined = reshaped(rows, {kBatch * 6, 8}, kBatch);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->axes[0].front(), kBatchAxis);
  EXPECT_TRUE(reshaped(*joined, {kBatch, 6, 8}, kBatch));
}

TEST(OnnxView, RefusesWhatTheSameMemoryCannotSay) {
  const View image = image_view("x", {3, 4, 5});
  EXPECT_FALSE(reshaped(image, {kBatch, 5, 12}, kBatch)) << "3 channels do not make 5";
  EXPECT_FALSE(reshaped(image, {kBatch, 60, 2}, kBatch));
  EXPECT_FALSE(reshaped(plain_view("x", {4}), {2, kBatch * 2}, kBatch)) << "no part of the batch";
  const auto joined = reshaped(plain_view("x", {4}), {4}, 1);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->axes, (std::vector<Ints>{{kBatchAxis, 0}})) << "the batch stays a part, also of one sample";
}

TEST(OnnxView, LeavesOutAxesThatSayNothing) {
  const View view = simplified({"x", {1, 6, 2, 1, 4}, {{kBatchAxis}, {0}, {1, 2}, {3, 4}}});
  EXPECT_EQ(view.memory, (Shape{12, 4}));
  EXPECT_EQ(view.axes, (std::vector<Ints>{{kBatchAxis}, {}, {0}, {1}}));
  const View apart = simplified({"x", {6, 2}, {{kBatchAxis}, {1, 0}}});
  EXPECT_EQ(apart.memory, (Shape{6, 2})) << "the other way round they are two";
}

TEST(OnnxView, ReordersItsMemory) {
  const View image = image_view("x", {3, 4, 5});
  const View copy = reordered(image, order_of(image), "y");
  EXPECT_EQ(copy.layer, "y");
  EXPECT_EQ(copy.memory, (Shape{3, 4, 5}));
  EXPECT_EQ(shape_of(copy, kBatch), shape_of(image, kBatch));
  EXPECT_TRUE(is_in_order(order_of(copy)));
}

TEST(OnnxView, RefinesBothToEqualParts) {
  View a{"a", {2, 6}, {{kBatchAxis}, {0, 1}}}, b{"b", {4, 3}, {{kBatchAxis}, {0, 1}}};
  ASSERT_TRUE(refine(a, b));
  EXPECT_EQ(a.memory, (Shape{2, 2, 3}));
  EXPECT_EQ(b.memory, (Shape{2, 2, 3}));
  View c{"c", {4, 3}, {{kBatchAxis}, {0, 1}}}, d{"d", {3, 4}, {{kBatchAxis}, {0, 1}}};
  EXPECT_FALSE(refine(c, d));
  View e = plain_view("e", {5, 8}), row = plain_view("row", {1, 8});
  row = simplified(row);
  ASSERT_TRUE(refine(e, row)) << "an axis of size 1 broadcasts";
}

}  // namespace
}  // namespace lethe::onnx
