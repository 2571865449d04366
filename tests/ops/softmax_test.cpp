#include <gtest/gtest.h>

#include <cmath>

#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_layer.h"

namespace lethe::testing {
namespace {

const double kLog2 = std::log(2.0), kLog3 = std::log(3.0);

void expect_near(const Tensor& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got.values[i], expected[i], 1e-14) << i;
}

TEST(Softmax, RowsAreProbabilities) {
  const Tensor x{{2, 3}, {0, kLog2, kLog3, kLog3, kLog2, 0}};
  expect_near(run_op("softmax", {x}), {1. / 6, 2. / 6, 3. / 6, 3. / 6, 2. / 6, 1. / 6});
  expect_near(run_op("log_softmax", {x}), {-std::log(6.), -std::log(3.), -kLog2, -kLog2, -std::log(3.), -std::log(6.)});
}

TEST(Softmax, LargeAndInfiniteInputsStayInRange) {
  const Tensor x{{2, 2}, {1000, 1000, -INFINITY, -1000}, DType::f32};
  EXPECT_EQ(run_op("softmax", {x}).values, (std::vector<double>{0.5, 0.5, 0, 1}));
  EXPECT_EQ(run_op("log_softmax", {x}).values[3], 0);
}

TEST(Softmax, NanSpreadsOverItsRowAlone) {
  const Tensor y = run_op("softmax", {Tensor{{2, 2}, {NAN, 1, 1, 1}}});
  EXPECT_TRUE(std::isnan(y.values[0]) && std::isnan(y.values[1]));
  EXPECT_EQ(y.values[2], 0.5);
}

TEST(Softmax, CausalRowsSeeNothingAfterTheirStep) {
  const Attrs causal{{"causal", 1}};
  const Tensor x{{2, 3, 3}, {1, NAN, INFINITY, 0, kLog3, 1e300, 0, 0, 0, 5, 9, 9, 7, 7, 9, kLog2, 0, 0}};
  const Tensor y = run_op("softmax", {x}, causal);
  expect_near(y, {1, 0, 0, 0.25, 0.75, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1, 0, 0, 0.5, 0.5, 0, 0.5, 0.25, 0.25});
  for (const std::size_t hidden : {1, 2, 5, 10, 11, 14}) EXPECT_EQ(y.values[hidden], 0) << hidden;
}

TEST(Softmax, WhatCausalRowsDoNotSeeGetsNoGradient) {
  const Tensor y = run_op("softmax", {counted({1, 3, 3})}, {{"causal", 1}});
  const Tensor dx = run_op("softmax_grad", {y, Tensor{{1, 3, 3}, {9, -8, 7, 6, -5, 4, 3, 2, 1}}});
  for (const std::size_t hidden : {1, 2, 5}) EXPECT_EQ(dx.values[hidden], 0) << hidden;
  EXPECT_NE(dx.values[3], 0);
}

TEST(Softmax, CausalNeedsTheScoresOfSteps) {
  for (const Shape& shape : {Shape{3}, Shape{2, 3}, Shape{2, 4, 3}})
    EXPECT_EQ(complaint("softmax", {shape}, {{"causal", 1}}),
              message("softmax: ", text_of(shape), " are no scores [.., T, T] to be causal"));
  Builder net({.batch = 2});
  EXPECT_TRUE(fails_with("is no batch of scores [.., T, T] to be causal", [&] {
    net.layer("softmax", net.input("x", {3}), {{"causal", 1}});
  }));
}

TEST(SoftmaxCrossEntropy, IsMinusTheLogOfTheLabelsProbability) {
  const Tensor logits{{2, 3}, {0, kLog2, kLog3, 1000, 0, 0}}, label{{2}, {1, 0}, DType::i32};
  expect_near(run_op("softmax_cross_entropy", {logits, label}), {kLog3, 0});
}

TEST(SoftmaxCrossEntropy, SmoothingSpreadsTheTarget) {
  const Tensor logits{{1, 2}, {0, kLog3}}, label{{1}, {1}, DType::i32};  // probabilities 1/4, 3/4; target 0.1, 0.9
  expect_near(run_op("softmax_cross_entropy", {logits, label}, {{"label_smoothing", 0.2}}),
              {0.1 * std::log(4.0) + 0.9 * std::log(4.0 / 3)});
}

TEST(SoftmaxCrossEntropy, GradientIsProbabilityMinusTarget) {
  const Tensor logits{{1, 2}, {0, kLog3}}, label{{1}, {1}, DType::i32}, dloss{{1}, {2}};
  expect_near(run_op("softmax_cross_entropy_grad", {logits, label, dloss}), {0.5, -0.5});
}

TEST(SoftmaxCrossEntropy, LabelBeyondTheClassesGivesNan) {
  const Tensor logits{{2, 2}, {0, 0, 0, 0}}, label{{2}, {2, 1}, DType::i32}, dloss{{2}, {1, 1}};
  for (const char* op : {"softmax_cross_entropy", "nll_loss"}) {
    const Tensor loss = run_op(op, {logits, label});
    EXPECT_TRUE(std::isnan(loss.values[0])) << op;
    EXPECT_FALSE(std::isnan(loss.values[1])) << op;
  }
  const Tensor grad = run_op("softmax_cross_entropy_grad", {logits, label, dloss});
  EXPECT_TRUE(std::isnan(grad.values[0]));
  EXPECT_EQ(grad.values[2], 0.5);
  EXPECT_TRUE(std::isnan(run_op("nll_loss_grad", {label, dloss}, {{"classes", 2}, {"dtype", "f64"}}).values[0]));
}

TEST(SoftmaxCrossEntropy, RowOfANegativeLabelDoesNotCountWhateverIsInIt) {
  const Tensor logits{{3, 2}, {NAN, 0, 0, 0, 1e300, INFINITY}}, label{{3}, {-1, 1, -100}, DType::i32};
  const Tensor dloss{{3}, {1, 1, 1}};
  for (const Attrs& attrs : {Attrs{}, Attrs{{"label_smoothing", 0.5}}}) {
    expect_near(run_op("softmax_cross_entropy", {logits, label}, attrs), {0, kLog2, 0});
    const Tensor grad = run_op("softmax_cross_entropy_grad", {logits, label, dloss}, attrs);
    EXPECT_EQ(grad.values[0], 0);
    EXPECT_LT(grad.values[3], 0);
    EXPECT_EQ(grad.values[5], 0);
  }
  expect_near(run_op("nll_loss", {logits, label}), {0, 0, 0});
  EXPECT_EQ(run_op("nll_loss_grad", {label, dloss}, {{"classes", 2}, {"dtype", "f64"}}),
            (Tensor{{3, 2}, {0, 0, 0, -1, 0, 0}}));
}

TEST(SoftmaxCrossEntropy, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("softmax_cross_entropy", {{4}, {4}}),
            "softmax_cross_entropy: scores have shape [4], expected [samples, .., classes]");
  EXPECT_EQ(complaint("nll_loss", {{4, 2, 2, 3}, {4}}, {}, {{1, DType::i32}}),
            "nll_loss: labels are i32[4], expected i32[4,2,2]");
  EXPECT_EQ(complaint("softmax_cross_entropy", {{4, 3}, {4}}),
            "softmax_cross_entropy: labels are f32[4], expected i32[4]");
}

TEST(SoftmaxLayer, WorksAlongOtherAxes) {
  const double of_three = std::log(3.0);
  const Tensor x{{1, 2, 2}, {0, 1, of_three, 1}};  // two steps of two channels
  const std::vector<double> expected = {0.25, 0.5, 0.75, 0.5};
  const Tensor y = run_layer("softmax", x, {{"axis", 0}}), logs = run_layer("log_softmax", x, {{"axis", 0}});
  EXPECT_EQ(y.shape, x.shape);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(y.values[i], expected[i], 1e-15) << i;
    EXPECT_NEAR(logs.values[i], std::log(expected[i]), 1e-15) << i;
  }
  EXPECT_EQ(run_layer("softmax", x, {{"axis", 1}}), run_layer("softmax", x, {}));
  EXPECT_EQ(error_of([&] {
              run_layer("softmax", x, {{"axis", 0}, {"causal", 1}});
            }),
            "'causal' is for the last axis; leave 'axis' out");
}

}  // namespace
}  // namespace lethe::testing
