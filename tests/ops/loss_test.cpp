#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

const Tensor kPrediction{{2, 2}, {1, 2, 3, -4}}, kTarget{{2, 2}, {0, 4, 3, -1}};

TEST(Loss, MseIsTheMeanSquareOfEachSample) {
  EXPECT_EQ(run_op("mse_loss", {kPrediction, kTarget}), (Tensor{{2}, {(1 + 4) / 2.0, 9 / 2.0}}));
  EXPECT_EQ(run_op("mse_loss_grad", {kPrediction, kTarget, Tensor{{2}, {1, 10}}}), (Tensor{{2, 2}, {1, -2, 0, -30}}));
}

TEST(Loss, L1IsTheMeanDistanceOfEachSample) {
  EXPECT_EQ(run_op("l1_loss", {kPrediction, kTarget}), (Tensor{{2}, {1.5, 1.5}}));
  EXPECT_EQ(run_op("l1_loss_grad", {kPrediction, kTarget, Tensor{{2}, {1, 10}}}), (Tensor{{2, 2}, {0.5, -0.5, 0, -5}}));
}

TEST(Loss, SamplesWithoutOtherAxesAreTheirOwnMean) {
  EXPECT_EQ(run_op("mse_loss", {Tensor{{2}, {1, 2}}, Tensor{{2}, {4, 2}}}), (Tensor{{2}, {9, 0}}));
}

TEST(Loss, SigmoidCrossEntropyIsThatOfTheProbability) {
  const double x = std::log(3.0);  // probability 3/4
  const Tensor loss = run_op("sigmoid_cross_entropy", {Tensor{{3, 1}, {x, x, -1000}}, Tensor{{3, 1}, {1, 0, 1}}});
  EXPECT_NEAR(loss.values[0], std::log(4.0 / 3), 1e-15);
  EXPECT_NEAR(loss.values[1], std::log(4.0), 1e-15);
  EXPECT_EQ(loss.values[2], 1000);
}

TEST(Loss, NllPicksTheLabel) {
  const Tensor logp{{2, 3}, {-1, -2, -3, -4, -5, -6}}, label{{2}, {2, 0}, DType::i32};
  EXPECT_EQ(run_op("nll_loss", {logp, label}), (Tensor{{2}, {3, 4}}));
  EXPECT_EQ(run_op("nll_loss_grad", {label, Tensor{{2}, {1, 2}}}, {{"classes", 3}, {"dtype", "f64"}}),
            (Tensor{{2, 3}, {0, 0, -1, -2, 0, 0}}));
}

const Attrs kIgnoreOne = {{"ignore", 1}, {"dtype", "f64"}};

TEST(IgnoreLabel, WeightsMakeTheMeanOfAllThatOfTheLabelsThatCount) {
  const Tensor label{{5}, {2, -1, 0, -100, 1}, DType::i32};
  EXPECT_EQ(run_op("ignore_label", {label}, kIgnoreOne), (Tensor{{5}, {2, -1, 0, -1, -1}, DType::i32}));
  const Tensor weights = run_op("ignore_label", {label}, kIgnoreOne, 1);
  EXPECT_EQ(weights, (Tensor{{5}, {2.5, 0, 2.5, 0, 0}}));
  const Tensor logp{{5, 3}, {0, 0, -3, 0, 0, 0, -5, 0, 0, 0, 0, 0, 0, 0, 0}};
  const Tensor loss = run_op("nll_loss", {logp, label});
  const Tensor weighted = run_op("mul", {loss, weights});
  EXPECT_EQ(run_op("mean", {weighted}), (Tensor{{}, {(3 + 5) / 2.0}}));
}

TEST(IgnoreLabel, WeightsAreZeroIfNoLabelCounts) {
  EXPECT_EQ(run_op("ignore_label", {Tensor{{2}, {-1, 1}, DType::i32}}, kIgnoreOne, 1), (Tensor{{2}, {0, 0}}));
}

TEST(Loss, HuberIsThatOfPyTorch) {
  std::ifstream file(LETHE_SOURCE_DIR "/tests/oracles/table_scores.json");
  const nlohmann::json kept = nlohmann::json::parse(file), &huber = kept.at("huber");
  const auto x = kept.at("predictions").get<std::vector<double>>(), t = kept.at("numbers").get<std::vector<double>>();
  const auto slopes = huber.at("gradient").get<std::vector<double>>();
  const Attrs delta{{"delta", huber.at("delta").get<double>()}};
  const Shape shape{1, std::ssize(x)};
  EXPECT_NEAR(run_op("huber_loss", {Tensor{shape, x}, Tensor{shape, t}}, delta).values[0],
              huber.at("loss").get<double>(), 1e-14);
  const Tensor gradient = run_op("huber_loss_grad", {Tensor{shape, x}, Tensor{shape, t}, Tensor{{1}, {1}}}, delta);
  for (std::size_t i = 0; i < slopes.size(); ++i) EXPECT_NEAR(gradient.values[i], slopes[i], 1e-15) << i;
}

TEST(IgnoreLabel, ClassesWeighTheirLabels) {
  const Tensor label{{5}, {2, -1, 0, 2, 1}, DType::i32}, of_class{{3}, {3, 9, 0.5}};
  const Tensor weights = run_op("ignore_label", {label, of_class}, kIgnoreOne, 1);
  EXPECT_EQ(weights, (Tensor{{5}, {0.5 * 5 / 4, 0, 3 * 5 / 4.0, 0.5 * 5 / 4, 0}}));
  const Tensor nothing{{3}, {0, 1, 0}};
  EXPECT_EQ(run_op("ignore_label", {label, nothing}, kIgnoreOne, 1), (Tensor{{5}, {0, 0, 0, 0, 0}}));
}

TEST(Loss, NanPassesThrough) {
  for (const char* op : {"mse_loss", "l1_loss", "huber_loss", "sigmoid_cross_entropy"}) {
    const Attrs attrs = std::string(op) == "huber_loss" ? Attrs{{"delta", 1.0}} : Attrs{};
    EXPECT_TRUE(std::isnan(run_op(op, {Tensor{{1, 2}, {NAN, 0}}, Tensor{{1, 2}, {0, 0}}}, attrs).values[0])) << op;
  }
}

TEST(Loss, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("mse_loss", {{2, 3}, {2, 4}}), "mse_loss: input is f32[2,3], target is f32[2,4]");
  EXPECT_EQ(complaint("ignore_label", {{2}}, kIgnoreOne), "ignore_label: labels are f32[2], expected i32");
}

std::vector<double> correct(const std::vector<double>& logits, std::int32_t label, int k = 1) {
  const Tensor x{{1, static_cast<std::int64_t>(logits.size())}, logits};
  return run_op("accuracy", {x, Tensor{{1}, {static_cast<double>(label)}, DType::i32}}, {{"k", k}}).values;
}

const std::vector<double> kYes = {1}, kNo = {0};

TEST(Accuracy, LabelMustBeAmongTheLargest) {
  EXPECT_EQ(correct({1, 3, 2}, 1), kYes);
  EXPECT_EQ(correct({1, 3, 2}, 2), kNo);
  EXPECT_EQ(correct({1, 3, 2}, 2, 2), kYes);
  EXPECT_EQ(correct({1, 3, 2}, 0, 2), kNo);
  EXPECT_EQ(correct({1, 3, 2}, 0, 5), kYes);
}

TEST(Accuracy, OfEqualLogitsTheFirstCounts) {
  EXPECT_EQ(correct({5, 5}, 0), kYes);
  EXPECT_EQ(correct({5, 5}, 1), kNo);
}

TEST(Accuracy, NanAndUnknownLabelsAreWrong) {
  EXPECT_EQ(correct({NAN, 5}, 1), kNo);
  EXPECT_EQ(correct({NAN, 5}, 0, 2), kNo);
  EXPECT_EQ(correct({1, 5}, 2, 2), kNo);
  EXPECT_EQ(correct({1, 5}, -1, 2), kNo);
}

}  // namespace
}  // namespace lethe::testing
