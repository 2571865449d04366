// The head without logits against fc and softmax_cross_entropy, which have them all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/autodiff/loss_share.h"
#include "framework/builder/builder.h"
#include "framework/ranks/micro_batches.h"
#include "memopt/memopt.h"
#include "tests/ops/gradients_by_name.h"
#include "tests/support/interpreter.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

/// Samples of `tokens` rows of `width` values (0 tokens: one row), each told one of `classes`.
struct HeadCase {
  std::int64_t samples, tokens, width, classes;
  LossSettings loss = {};
  bool bias = true;
  std::int64_t parts = 1;
};

NetworkWithGradients head_network(const HeadCase& c, bool fused) {
  Builder net({.batch = c.samples / c.parts, .dtype = DType::f64});
  Shape rows, values = {c.width};
  if (c.tokens > 0) rows = {c.tokens}, values = {c.tokens, c.width};
  const VarId x = net.input("x", values), label = net.input("label", rows, DType::i32);
  LossSettings loss = c.loss;
  if (fused) {
    loss.name = "head";
    loss.layer = {{"out", c.classes}, {"bias", c.bias}};
    net.loss("linear_cross_entropy", x, label, loss);
  } else {
    const Attrs fc{{"out", c.classes}, {"bias", c.bias}, {"flatten", 0}};
    net.loss("cross_entropy", net.layer("fc", x, fc, "head"), label, loss);
  }
  NetworkWithGradients made{net.finish(), {}};
  Program& program = made.network.program;
  const VarId share = append_loss_share(program, made.network.loss, c.parts);
  const std::vector<VarId> also = c.parts == 1 ? std::vector{x} : std::vector<VarId>{};
  made.gradients = append_backward(program, made.network.loss, also, share);
  return c.parts == 1 ? made : in_parts(std::move(made), {.parts = c.parts});
}

/// Loss, then which labels are right ones, then the gradients of weight, bias and x.
std::vector<double> results_of(const HeadCase& c, bool fused) {
  const NetworkWithGradients made = head_network(c, fused);
  const Network& network = made.network;
  Interpreter values(network.program, {.threads = 2});
  std::map<std::string, VarId> gradients;
  for (const ParamGrad& pair : made.gradients) gradients[network.program.vars[pair.param].name] = pair.grad;
  for (const ParamInfo& info : network.params)
    values.fill_uniform(info.var, -1, 1, network.program.vars[info.var].shape.size());
  values.fill_uniform(network.inputs[0], -1, 1, 3);
  values.fill_uniform(network.inputs[1], -2, static_cast<double>(c.classes), 4);
  values.run();
  std::vector<double> all;
  const auto take = [&](VarId v) {
    for (std::int64_t i = 0; i < elements(network.program.vars[v].shape); ++i) all.push_back(values.number(v, i));
  };
  take(network.loss), take(network.correct);
  for (const auto& [name, gradient] : gradients) take(gradient);
  return all;
}

void expect_that_of_logits(const HeadCase& c) {
  const std::vector<double> fused = results_of(c, true), plain = results_of(c, false);
  ASSERT_EQ(fused.size(), plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_NEAR(fused[i], plain[i], 1e-12) << i;
}

TEST(LinearCrossEntropy, IsThatOfFcAndSoftmaxCrossEntropy) {
  expect_that_of_logits({7, 0, 5, 11});
  expect_that_of_logits({7, 0, 5, 11, {}, false});
  expect_that_of_logits({4, 6, 5, 11, {.label_smoothing = 0.2}});
  expect_that_of_logits({4, 6, 5, 11, {.weight = 0.5, .ignore = 3}});
  expect_that_of_logits({60, 0, 3, 2});
}

TEST(LinearCrossEntropy, OfMoreRowsThanAreThereAtATimeIsThatOfAll) {
  const HeadCase c{200, 0, 2, 40000};  // 80 rows at a time, and a rest
  const Program program = head_network(c, true).network.program;
  Prepared prepared{DeviceInfo{.threads = 2}};
  for (const Op& op : program.blocks[0].ops)
    if (op.type.starts_with("linear_cross_entropy")) {
      EXPECT_LT(prepared.kernel(program, op).workspace_bytes(), 100 * c.classes * 8);
    }
  expect_that_of_logits(c);
}

/// A part of the rows is done after another: what each reads of x must still be there.
TEST(LinearCrossEntropy, TheGradientOfXMayStandWhereXDoes) {
  const NetworkWithGradients made = head_network({200, 0, 2, 40000}, true);
  const Program& program = made.network.program;
  Interpreter values(program, {.threads = 2});
  for (const ParamInfo& info : made.network.params) values.fill_uniform(info.var, -1, 1, 1);
  values.fill_uniform(made.network.inputs[0], -1, 1, 3);
  values.fill_uniform(made.network.inputs[1], 0, 40000, 4);
  values.run();
  const std::vector<Op>& ops = program.blocks[0].ops;
  const auto gradient = std::ranges::find(ops, "linear_cross_entropy_and_grad", &Op::type);
  ASSERT_NE(gradient, ops.end());
  const std::vector<InPlace>& pairs = op_def(gradient->type).inplace;
  ASSERT_EQ(pairs.size(), 1U);
  Prepared prepared{DeviceInfo{.threads = 2}};
  const Kernel& kernel = prepared.kernel(program, *gradient);
  const Trial apart = try_op(values, *gradient, kernel), over = try_op(values, *gradient, kernel, kUnwritten, pairs);
  EXPECT_EQ(over.harm, "");
  for (std::size_t i = 0; i < apart.outputs.size(); ++i) EXPECT_TRUE(over.outputs[i].holds_same(apart.outputs[i])) << i;
}

TEST(LinearCrossEntropy, PartsOfABatchGiveThatOfTheWhole) {
  const HeadCase whole{6, 2, 5, 4, {.ignore = 2}};
  HeadCase cut = whole;
  cut.parts = 3;
  std::vector<double> of_whole = results_of(whole, true), of_parts = results_of(cut, true);
  ASSERT_GT(of_whole.size(), of_parts.size()) << "no gradient of x in parts";
  for (std::size_t i = 0; i < of_parts.size(); ++i) EXPECT_NEAR(of_parts[i], of_whole[i], 1e-12) << i;
}

/// By parameter: all the numbers of its gradient, of a network that embeds what it predicts.
std::map<std::string, std::vector<double>> tied_gradients(bool fused) {
  Builder net({.batch = 2, .dtype = DType::f64});
  const VarId ids = net.input("ids", {3}, DType::i32), next = net.input("next", {3}, DType::i32);
  const VarId x = net.layer("tanh", net.layer("embedding", ids, {{"vocab", 7}, {"out", 4}}, "tokens"));
  if (fused)
    net.loss("linear_cross_entropy", x, next, {.layer = {{"out", 7}, {"share", "tokens"}}});
  else
    net.loss("cross_entropy", net.layer("fc", x, {{"out", 7}, {"bias", 0}, {"flatten", 0}, {"share", "tokens"}}), next);
  return gradients_by_name(net.finish(), 7);
}

TEST(LinearCrossEntropy, TheGradientOfATableThatIsItsWeightTooIsTheSumOfBoth) {
  const auto fused = tied_gradients(true), plain = tied_gradients(false);
  ASSERT_EQ(fused.size(), 1U);
  const std::vector<double>&got = fused.at("tokens.weight"), &want = plain.at("tokens.weight");
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-12) << i;
}

TEST(LinearCrossEntropy, LabelsCountAsThoseOfSoftmaxCrossEntropy) {
  const Tensor x{{3, 2}, {1, 2, 3, 4, 5, 6}}, weight{{2, 2}, {1, 0, 0, 1}}, label{{3}, {-1, 2, 1}, DType::i32};
  const Tensor loss = run_op("linear_cross_entropy", {x, weight, {}, label});
  EXPECT_EQ(loss.values[0], 0);
  EXPECT_TRUE(std::isnan(loss.values[1]));
  EXPECT_NEAR(loss.values[2], std::log1p(std::exp(-1)), 1e-12);
  EXPECT_EQ(run_op("linear_cross_entropy", {x, weight, {}, label}, {}, 2), (Tensor{{3}, {0, 0, 1}, DType::u8}));
  const Tensor ones{{3}, {1, 1, 1}};
  const Tensor dx = run_op("linear_cross_entropy_and_grad", {x, weight, {}, label, ones}, {}, 4);
  EXPECT_EQ(std::vector<double>(dx.values.begin(), dx.values.begin() + 2), (std::vector<double>{0, 0}));
  EXPECT_TRUE(std::isnan(dx.values[2]) && std::isnan(dx.values[3]));
  EXPECT_TRUE(std::isfinite(dx.values[4]) && std::isfinite(dx.values[5]));
}

TEST(LinearCrossEntropy, OfEqualLogitsTheFirstIsTheLargestAndNanIsNone) {
  const auto right = [](const std::vector<double>& logits, double label) {
    const Tensor x{{1, 1}, {1}}, weight{{static_cast<std::int64_t>(logits.size()), 1}, logits};
    return run_op("linear_cross_entropy", {x, weight, {}, Tensor{{1}, {label}, DType::i32}}, {}, 2).values[0];
  };
  EXPECT_EQ(right({5, 5, 1}, 0), 1);
  EXPECT_EQ(right({5, 5, 1}, 1), 0);
  EXPECT_EQ(right({NAN, 5, 1}, 1), 0);
  EXPECT_EQ(right({5, 5, 1}, 3), 0);
}

TEST(LinearCrossEntropy, ZLossAddsTheSquareOfLse) {
  const Tensor x{{2, 2}, {1, 2, 3, 4}}, weight{{2, 2}, {1, 0, 0, 1}}, label{{2}, {0, 1}, DType::i32};
  const Tensor plain = run_op("linear_cross_entropy", {x, weight, {}, label}),
               lse = run_op("linear_cross_entropy", {x, weight, {}, label}, {}, 1),
               with_z = run_op("linear_cross_entropy", {x, weight, {}, label}, {{"z_loss", 0.5}});
  for (int i = 0; i < 2; ++i)
    EXPECT_NEAR(with_z.values[i], plain.values[i] + 0.5 * lse.values[i] * lse.values[i], 1e-12);
}

/// What a step of the head alone takes beyond x, labels, the parameter, its copy in `dtype` and its gradient.
std::int64_t bytes_of_head(DType dtype) {
  Builder net({.batch = 4096, .dtype = dtype});
  const VarId x = net.input("x", {768}), label = net.input("label", {}, DType::i32);
  net.loss("linear_cross_entropy", x, label, {.layer = {{"out", 50257}}});
  Network network = net.finish();
  const std::vector<ParamGrad> gradients = append_backward(network.program, network.loss);
  MemoptOptions options = parse_memopt("level=2");
  options.pins.fetched = {network.loss, gradients.at(0).grad};
  Prepared prepared{DeviceInfo{.threads = 2}};
  const Bytes bytes = plan_memory(network.program, prepared, options).plan.bytes;
  std::int64_t beyond = bytes.temps + bytes.workspace - bytes_of(network.program.vars[gradients[0].grad]);
  for (const Op& op : network.program.blocks[0].ops)
    if (op.type == kCast) beyond -= bytes_of(network.program.vars[op.out[0]]);
  return beyond;
}

TEST(LinearCrossEntropy, Of4096TokensAndGpt2sVocabularyTakesNoMoreThan64MiB) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
    EXPECT_LE(bytes_of_head(dtype), std::int64_t{64} << 20) << name_of(dtype);
}

TEST(LinearCrossEntropy, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("linear_cross_entropy", {{2, 3}, {5, 4}, {5}, {2}}, {}, {{3, DType::i32}}),
            "linear_cross_entropy: x is f32[2,3], weight f32[5,4], expected [rows, .., C] and [V,C]");
  EXPECT_EQ(complaint("linear_cross_entropy", {{2, 3}, {5, 3}, {4}, {2}}, {}, {{3, DType::i32}}),
            "linear_cross_entropy: bias is f32[4], expected f32[5]");
  EXPECT_EQ(complaint("linear_cross_entropy", {{2, 3}, {5, 3}, {5}, {3}}, {}, {{3, DType::i32}}),
            "linear_cross_entropy: label is i32[3], expected i32[2]");
}

}  // namespace
}  // namespace lethe::testing
