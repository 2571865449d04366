#include "framework/builder/mixed_targets.h"

#include <gtest/gtest.h>

#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kSamples = 3;
const std::vector<int> kOwn = {0, 3, 1}, kOther = {2, 3, 0};
const std::vector<double> kShares = {0.25, 0.5, 1};

/// Two losses read the labels.
Network of_two_losses(bool mixed) {
  Builder net({.batch = kSamples, .dtype = DType::f64});
  const VarId x = net.input("x", {3}), label = net.input("label", {}, DType::i32);
  const VarId hidden = net.layer("fc", x, {{"out", 4}}, "hidden");
  net.loss("cross_entropy", net.layer("fc", hidden, {{"out", 4}}, "fc"), label, {.label_smoothing = 0.1});
  net.loss("cross_entropy", hidden, label, {.weight = 0.3});
  Network network = net.finish();
  if (mixed) mix_targets(network);
  return network;
}

std::vector<double> losses_of(const Network& network, const std::vector<int>& labels) {
  Interpreter values(network.program);
  for (const ParamInfo& info : network.params) values.fill_uniform(info.var, -1, 1, 1);
  values.fill_uniform(network.inputs[0], -1, 1, 2);
  for (std::int64_t i = 0; i < kSamples; ++i) {
    values.set(network.target, i, labels[i]);
    if (network.inputs.size() == 2) continue;
    values.set(find_var(network.program, "label@OTHER"), i, kOther[i]);
    values.set(find_var(network.program, "label@SHARE"), i, kShares[i]);
  }
  values.run();
  std::vector<double> losses = {values.number(network.loss)};
  for (std::int64_t i = 0; i < kSamples; ++i) losses.push_back(values.number(network.sample_loss, i));
  return losses;
}

TEST(MixedTargets, AreComparedWithByTheirShares) {
  const std::vector<double> own = losses_of(of_two_losses(false), kOwn),
                            other = losses_of(of_two_losses(false), kOther),
                            mixed = losses_of(of_two_losses(true), kOwn);
  double mean = 0;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const double expected = kShares[i] * own[i + 1] + (1 - kShares[i]) * other[i + 1];
    EXPECT_NEAR(mixed[i + 1], expected, 1e-12) << i;
    mean += expected / kSamples;
  }
  EXPECT_NEAR(mixed[0], mean, 1e-12);
}

TEST(MixedTargets, AreLabelsOfCrossEntropy) {
  Builder values({.batch = 2}), tokens({.batch = 2});
  values.loss("mse", values.input("x", {3}), values.input("y", {3}));
  Network no_labels = values.finish();
  EXPECT_TRUE(
      fails_with("samples are mixed where cross_entropy losses read a label of each", [&] { mix_targets(no_labels); }));
  tokens.loss("cross_entropy", tokens.input("x", {3, 4}), tokens.input("label", {3}, DType::i32));
  Network many = tokens.finish();
  EXPECT_TRUE(fails_with("read a label of each", [&] { mix_targets(many); }));
}

}  // namespace
}  // namespace lethe::testing
