// Reductions over axes of a sample: values, gradients and keys of the layers.
#include <gtest/gtest.h>

#include <cmath>

#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_layer.h"

namespace lethe::testing {
namespace {

const Tensor kSix{{2, 3}, {3, -1, 2, -5, 4, 4}};

TEST(Reduce, OverAxesOrAll) {
  const Attrs rows{{"axes", Ints{1}}}, columns{{"axes", Ints{0}}, {"keep_dims", true}};
  EXPECT_EQ(run_op("reduce_max", {kSix}, rows), (Tensor{{2}, {3, 4}}));
  EXPECT_EQ(run_op("reduce_min", {kSix}, rows), (Tensor{{2}, {-1, -5}}));
  EXPECT_EQ(run_op("reduce_prod", {kSix}, rows), (Tensor{{2}, {-6, -80}}));
  EXPECT_EQ(run_op("reduce_max", {kSix}, columns), (Tensor{{1, 3}, {3, 4, 4}}));
  EXPECT_EQ(run_op("reduce_min", {kSix}), (Tensor{{}, {-5}}));
  EXPECT_EQ(run_op("reduce_prod", {kSix}), (Tensor{{}, {480}}));
}

TEST(Reduce, OverAxesThatStandApart) {
  const Attrs ends{{"axes", Ints{0, 2}}};
  EXPECT_EQ(run_op("reduce_max", {counted({2, 3, 4})}, ends), (Tensor{{3}, {16, 20, 24}}));
  EXPECT_EQ(run_op("reduce_min", {counted({2, 3, 4})}, ends), (Tensor{{3}, {1, 5, 9}}));
}

/// 1, 2... with one element set.
Tensor counted_but(const Shape& shape, std::size_t place, double value) {
  Tensor tensor = counted(shape);
  tensor.values[place] = value;
  return tensor;
}

TEST(Reduce, FindsOneElementAmongMany) {
  for (const std::int64_t length : {1, 2, 63, 64, 65, 257, 5000, 70001})
    for (const std::int64_t inner : {1, 3})
      for (const std::int64_t row : {std::int64_t{0}, length / 2, length - 1}) {
        const auto place = static_cast<std::size_t>(row * inner);
        const Attrs rows{{"axes", Ints{0}}};
        EXPECT_EQ(run_op("reduce_max", {counted_but({length, inner}, place, 1e9)}, rows).values[0], 1e9) << length;
        EXPECT_EQ(run_op("reduce_min", {counted_but({length, inner}, place, -1)}, rows).values[0], -1) << length;
      }
}

TEST(Reduce, NanWins) {
  for (const char* op : {"reduce_max", "reduce_min"})
    for (const std::size_t place : {0U, 1U, 150U, 299U}) {
      const Tensor y = run_op(op, {counted_but({2, 300}, place, NAN)}, {{"axes", Ints{1}}});
      EXPECT_TRUE(std::isnan(y.values[0])) << op << place;
      EXPECT_FALSE(std::isnan(y.values[1])) << op << place;
    }
}

TEST(ReduceExtremeGrad, GivesEqualSharesAsAmaxDoes) {
  const Tensor x{{2, 3}, {4, 4, 2, NAN, 1, NAN}}, y{{2}, {4, NAN}}, dy{{2}, {6, 8}};
  EXPECT_EQ(run_op("reduce_extreme_grad", {x, y, dy}, {{"axes", Ints{1}}}), (Tensor{{2, 3}, {3, 3, 0, 4, 0, 4}}));
}

TEST(ReduceProdGrad, IsRightWhereElementsAreZero) {
  const Tensor x{{3, 3}, {2, 3, 4, 2, 0, 4, 0, 3, 0}}, dy{{3}, {1, 10, 100}};
  EXPECT_EQ(run_op("reduce_prod_grad", {x, dy}, {{"axes", Ints{1}}}), (Tensor{{3, 3}, {12, 8, 6, 0, 80, 0, 0, 0, 0}}));
}

/// What the layer makes of a sample, as files state it.
Shape reduced(const std::string& layer, const Shape& sample, const Attrs& settings) {
  Builder net({.batch = 2});
  return net.sample_shape(net.layer(layer, net.input("x", sample), settings));
}

TEST(ReduceLayer, CountsAxesAsFilesStateThem) {
  for (const char* layer : {"sum", "mean", "reduce_max", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceMean"}) {
    const Shape image{6, 5, 4};  // in memory; files say [4, 6, 5]
    EXPECT_EQ(reduced(layer, image, {{"axes", Ints{1, 2}}}), (Shape{4})) << layer;
    EXPECT_EQ(reduced(layer, image, {{"axes", Ints{2, 0}}, {"keep", true}}), (Shape{1, 6, 1})) << layer;
    EXPECT_EQ(reduced(layer, image, {{"axis", 0}}), (Shape{6, 5})) << layer;
    EXPECT_EQ(reduced(layer, {7, 3}, {{"axes", Ints{0}}}), (Shape{3})) << layer;
  }
}

TEST(GlobalMaxPoolLayer, TakesTheLargestOfEachChannel) {
  EXPECT_EQ(run_layer("GlobalMaxPool", {{1, 2, 2, 2}, {1, 2, 3, 9, 5, 6, 4, 8}}, {}), (Tensor{{1, 2}, {5, 9}}));
}

TEST(ReduceLayer, SaysWhichAxesItTakes) {
  const auto fails = [](const Attrs& settings) {
    return error_of([&] { reduced("reduce_max", {6, 5, 4}, settings); });
  };
  EXPECT_EQ(fails({{"axes", Ints{1, 3}}}), "there is no axis 3; axes are counted without the batch, 0 to 2 of [4,6,5]");
  EXPECT_EQ(fails({{"axes", Ints{1, 1}}}), "an axis stands twice in [1,1]");
  EXPECT_EQ(fails({{"axes", Ints{}}}), "'axes' names no axis; without it all are reduced");
  EXPECT_EQ(fails({{"axes", Ints{1}}, {"axis", 0}}), "either 'axis' or 'axes' says what is reduced, not both");
}

}  // namespace
}  // namespace lethe::testing
