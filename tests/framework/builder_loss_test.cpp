#include <gtest/gtest.h>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kValues = 3, kClasses = 4, kTokens = 3;

/// Classifies each label's values by one product.
Network classifier(std::int64_t labels, const LossSettings& settings, bool training = true) {
  Builder net({.batch = labels, .dtype = DType::f64, .training = training});
  const VarId logits = net.layer("fc", net.input("x", {kValues}), {{"out", kClasses}}, "fc");
  net.loss("cross_entropy", logits, net.input("label", {}, DType::i32), settings);
  return net.finish();
}

/// What a network gives for rows of values, each told by its number, and their labels.
class OneRun {
 public:
  OneRun(Network made, const std::vector<int>& rows, const std::vector<int>& labels) : network(std::move(made)) {
    gradients_ = append_backward(network.program, network.loss);
    values_ = std::make_unique<Interpreter>(network.program);
    for (const ParamInfo& info : network.params) values_->fill_uniform(info.var, -1, 1, 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      values_->set(network.target, static_cast<std::int64_t>(i), labels[i]);
      for (int j = 0; j < kValues; ++j)
        values_->set(network.inputs[0], static_cast<std::int64_t>(i) * kValues + j, 0.3 * rows[i] - 0.7 * j * rows[i]);
    }
    values_->run();
  }
  double loss() const { return values_->number(network.loss); }
  double sample_loss(std::int64_t i) const { return values_->number(network.sample_loss, i); }
  double correct(std::int64_t i) const { return values_->number(network.correct, i); }
  std::vector<double> gradients() const {
    std::vector<double> all;
    for (const ParamGrad& g : gradients_)
      for (std::int64_t i = 0; i < elements(network.program.vars[g.grad].shape); ++i)
        all.push_back(values_->number(g.grad, i));
    return all;
  }

  Network network;

 private:
  std::vector<ParamGrad> gradients_;
  std::unique_ptr<Interpreter> values_;
};

TEST(BuilderLoss, OfLabelsOneOfWhichIsIgnoredIsThatOfTheOthersAlone) {
  const OneRun all(classifier(5, {.ignore = 2}), {1, 2, 3, 4, 5}, {0, 2, 3, -1, 1});
  const OneRun kept(classifier(3, {}), {1, 3, 5}, {0, 3, 1});
  EXPECT_NEAR(all.loss(), kept.loss(), 1e-12);
  ASSERT_EQ(all.gradients().size(), kept.gradients().size());
  for (std::size_t i = 0; i < kept.gradients().size(); ++i)
    EXPECT_NEAR(all.gradients()[i], kept.gradients()[i], 1e-12) << i;
}

TEST(BuilderLoss, IgnoredLabelsAreNeverCorrect) {
  int right = 0;
  for (int label = 0; label < kClasses; ++label) {
    const bool best = OneRun(classifier(1, {}), {1}, {label}).correct(0) == 1;
    right += best;
    if (best) {
      EXPECT_EQ(OneRun(classifier(1, {.ignore = label}), {1}, {label}).correct(0), 0);
    }
  }
  EXPECT_EQ(right, 1);
}

TEST(BuilderLoss, InEvaluationEachLabelHasItsOwnLossAndTheIgnoredNone) {
  const OneRun all(classifier(3, {.ignore = 2}, false), {1, 2, 3}, {0, 2, 3});
  EXPECT_EQ(all.sample_loss(1), 0);
  EXPECT_NEAR(all.sample_loss(0), OneRun(classifier(1, {}), {1}, {0}).loss(), 1e-12);
  EXPECT_NEAR(all.sample_loss(2), OneRun(classifier(1, {}), {3}, {3}).loss(), 1e-12);
}

/// Classifies each token of 2 samples, as they are or as rows.
Network of_tokens(bool as_rows, const LossSettings& settings) {
  Builder net({.batch = 2, .dtype = DType::f64});
  VarId x = net.input("x", {kTokens, kValues}), label = net.input("label", {kTokens}, DType::i32);
  if (as_rows) {
    x = net.layer("reshape", x, {{"shape", Ints{-1, kValues}}, {"batch", 1}});
    label = net.layer("reshape", label, {{"shape", Ints{-1}}, {"batch", 1}});
  }
  const VarId logits = net.layer("fc", x, {{"out", kClasses}, {"flatten", 0}}, "fc");
  net.loss("cross_entropy", logits, label, settings);
  Network network = net.finish();
  network.target = network.inputs[1];
  return network;
}

TEST(BuilderLoss, OfTokensIsThatOfTheRowsThatTheyAre) {
  for (const LossSettings& settings :
       {LossSettings{}, LossSettings{.label_smoothing = 0.1}, LossSettings{.ignore = 2}}) {
    const std::vector<int> rows = {1, 2, 3, 4, 5, 6}, labels = {0, 2, 3, -1, 1, 2};
    const OneRun tokens(of_tokens(false, settings), rows, labels), plain(of_tokens(true, settings), rows, labels);
    EXPECT_EQ(tokens.network.program.vars[tokens.network.correct].shape, (Shape{2, kTokens}));
    EXPECT_EQ(tokens.network.program.vars[tokens.network.sample_loss].shape, (Shape{2, kTokens}));
    EXPECT_EQ(tokens.loss(), plain.loss());
    EXPECT_EQ(tokens.gradients(), plain.gradients());
    for (int i = 0; i < 2 * kTokens; ++i) EXPECT_EQ(tokens.correct(i), plain.correct(i)) << i;
  }
}

/// Of each pixel's class and of the image's, in an order, with other weights for both.
double loss_of_both(double pixels, double image, bool image_first) {
  Builder net({.batch = 2, .dtype = DType::f64});
  const VarId x = net.input("x", {2, 3, kClasses}), label = net.input("label", {2, 3}, DType::i32);
  const VarId whole = net.layer("global_avg_pool", x), kind = net.input("kind", {}, DType::i32);
  if (image_first) net.loss("cross_entropy", whole, kind, {.weight = image});
  net.loss("cross_entropy", x, label, {.weight = pixels});
  if (!image_first) net.loss("cross_entropy", whole, kind, {.weight = image});
  const Network network = net.finish();
  Interpreter values(network.program);
  values.fill_uniform(x, -1, 1, 1);
  values.fill_uniform(label, 0, kClasses, 2);
  values.fill_uniform(kind, 0, kClasses, 3);
  values.run();
  return values.number(network.loss);
}

TEST(BuilderLoss, OfPixelsAndOfTheWholeImageAreSummedAsTheirMeans) {
  const double of_pixels = loss_of_both(1, 0, false), of_image = loss_of_both(0, 1, false);
  EXPECT_NE(of_pixels, of_image);
  for (const bool image_first : {false, true})
    EXPECT_NEAR(loss_of_both(0.5, 3, image_first), 0.5 * of_pixels + 3 * of_image, 1e-12);
}

TEST(BuilderLoss, AllLossesIgnoreTheSameLabel) {
  Builder net({.batch = 2});
  const VarId x = net.layer("fc", net.input("x", {3}), {{"out", 4}}), label = net.input("label", {}, DType::i32);
  net.loss("cross_entropy", x, label, {.ignore = 0});
  EXPECT_TRUE(fails_with("all losses must ignore the same label", [&] { net.loss("cross_entropy", x, label); }));
  net.loss("cross_entropy", x, label, {.weight = 0.5, .ignore = 0});
}

TEST(BuilderLoss, LossesThatIgnoreALabelAreOfOneShape) {
  Builder net({.batch = 2});
  const VarId words = net.layer("fc", net.input("x", {3, 5}), {{"out", 4}, {"flatten", 0}});
  net.loss("cross_entropy", words, net.input("word", {3}, DType::i32), {.ignore = 0});
  const VarId whole = net.layer("sum", words, {{"axis", 0}}), label = net.input("label", {}, DType::i32);
  EXPECT_TRUE(fails_with("losses that ignore a label must be of one shape, found [2] after [2,3]",
                         [&] { net.loss("cross_entropy", whole, label, {.ignore = 0}); }));
}

TEST(BuilderLoss, OneOfTwoLossesIsOfPartsOfTheOther) {
  Builder net({.batch = 2});
  const auto labels = [&](const char* name, std::int64_t count) { return net.input(name, {count}, DType::i32); };
  const auto words = [&](const char* name, std::int64_t count) { return net.input(name, {count, 4}); };
  net.loss("cross_entropy", words("a", 3), labels("of_a", 3));
  for (const std::int64_t count : {1, 5})
    EXPECT_TRUE(fails_with(message("neither of two losses is for parts of the other: [2,3] and [2,", count, ']'), [&] {
      net.loss("cross_entropy", words(count == 1 ? "b" : "c", count), labels(count == 1 ? "of_b" : "of_c", count));
    }));
}

TEST(BuilderLoss, SettingsThatTheLossDoesNotHaveAreRefused) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {3});
  EXPECT_TRUE(fails_with("'mse' has no labels to ignore", [&] { net.loss("mse", x, x, {.ignore = 0}); }));
  EXPECT_TRUE(fails_with("'l1' has no label_smoothing", [&] { net.loss("l1", x, x, {.label_smoothing = 0.1}); }));
  EXPECT_TRUE(fails_with("label_smoothing is 1, expected 0 to below 1",
                         [&] { net.loss("cross_entropy", x, x, {.label_smoothing = 1}); }));
  EXPECT_TRUE(fails_with("'mse' has no delta", [&] { net.loss("mse", x, x, {.layer = {{"delta", 1.0}}}); }));
  EXPECT_TRUE(fails_with("delta is 0, expected more than 0", [&] {
    net.loss("huber", x, x, {.layer = {{"delta", 0.0}}});
  }));
}

}  // namespace
}  // namespace lethe::testing
