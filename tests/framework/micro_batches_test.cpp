#include "framework/ranks/micro_batches.h"

#include <gtest/gtest.h>

#include "framework/autodiff/loss_share.h"
#include "framework/builder/builder.h"
#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "framework/ranks/trip_updates.h"
#include "tests/support/expect_error.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kWidth = 3, kLogits = 4;

/// One product of rows of values, with its loss; `labels` of their own are made of those that are fed.
NetworkWithGradients classifier(std::int64_t samples, std::int64_t parts, bool makes_labels = false) {
  Builder net({.batch = samples / parts, .dtype = DType::f64, .training = true});
  VarId label = net.input("label", {2}, DType::i32);
  const VarId x = net.input("x", {2, kWidth});
  if (makes_labels) label = net.layer("relu", label);
  const VarId logits = net.layer("fc", x, {{"out", kLogits}, {"flatten", 0}}, "fc");
  net.loss("cross_entropy", logits, label, {.ignore = 2});
  NetworkWithGradients made{net.finish(), {}};
  Program& program = made.network.program;
  made.gradients =
      append_backward(program, made.network.loss, {}, append_loss_share(program, made.network.loss, parts));
  return parts == 1 ? made : in_parts(std::move(made), {.parts = parts});
}

/// How a sum has been made: "((1+2)+3)", parts by their numbers.
std::string sum_of(const Program& program, VarId var) {
  const std::string& name = program.vars[var].name;
  for (const Op& op : program.blocks[0].ops)
    if (op.out == std::vector{var} && op.type == "sum_n" && name.find("@SUM") != std::string::npos)
      return '(' + sum_of(program, op.in[0]) + '+' + sum_of(program, op.in[1]) + ')';
  const std::size_t at = name.find("@PART");
  return at == std::string::npos ? "1" : name.substr(at + 5);
}

TEST(MicroBatches, TheSumsAreThoseOfABinaryTreeOverTheParts) {
  const std::map<std::int64_t, std::string> trees = {{2, "(1+2)"},
                                                     {3, "((1+2)+3)"},
                                                     {4, "((1+2)+(3+4))"},
                                                     {6, "(((1+2)+(3+4))+(5+6))"},
                                                     {7, "(((1+2)+(3+4))+((5+6)+7))"},
                                                     {8, "(((1+2)+(3+4))+((5+6)+(7+8)))"}};
  for (const auto& [parts, tree] : trees) {
    const NetworkWithGradients made = classifier(parts, parts);
    verify(made.network.program);
    ASSERT_EQ(made.gradients.size(), 2U);
    for (const ParamGrad& gradient : made.gradients) EXPECT_EQ(sum_of(made.network.program, gradient.grad), tree);
  }
}

TEST(MicroBatches, OnRanksWhatTripsUpdateIsNotedAndMadeAfterThem) {
  Builder net({.batch = 4, .training = true});
  const auto trip = [&](const Vars& h) { return Vars{net.layer("bn", h[0])}; };
  const auto condition = [&](const Vars& h) {
    return net.layer("less", net.layer("mean", trip(h)[0]), {{"value", 0.5}});
  };
  net.loop({net.input("x", {kWidth})}, 5, nullptr, [&](const Vars& h) { return net.loop(h, 3, condition, trip); });
  Program program = net.finish().program, updated_twice = program;
  const std::vector<NotedUpdate> noted = note_trip_updates(program);
  ASSERT_EQ(noted.size(), 2U);
  EXPECT_EQ(noted[0].most, 20) << "a condition is asked once more than there are trips";
  EXPECT_EQ(noted[1].most, 15);
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) EXPECT_FALSE(updates_state(program, op)) << op.type;
  for (const NotedUpdate& update : noted) append_noted(program, update);
  verify(program);
  const std::vector<VarId> states = noted[0].op.out;
  append_update(updated_twice, 0, noted[0].op.type, {states[0], states[1], states[0], states[1]}, noted[0].op.attrs);
  EXPECT_NE(error_of([&] { note_trip_updates(updated_twice); }).find("is updated in two places"), std::string::npos);
}

TEST(MicroBatches, OnRanksMoreUpdatesThanALoopHasTripsAreRefused) {
  const auto noted = [](const Ints& loops) {
    Builder net({.batch = 4, .training = true});
    std::function<Vars(const Vars&)> body = [&](const Vars& h) { return Vars{net.layer("bn", h[0], {}, "norm")}; };
    for (const std::int64_t trips : loops)
      body = [&net, trips, inner = body](const Vars& h) { return net.loop(h, trips, nullptr, inner); };
    body({net.input("x", {kWidth})});
    Program program = net.finish().program;
    return error_of([&] { note_trip_updates(program); });
  };
  EXPECT_EQ(noted({1000, 1000}), "(nothing)");
  const std::string refused = noted({1000, 1001});
  EXPECT_NE(refused.find("norm.running_mean' may be updated 1001000 times a step in loops, at most 1000000 are noted"),
            std::string::npos)
      << refused;
  EXPECT_NE(noted({1000000, 1000000, 1000000, 1000000}).find("at most 1000000 are noted"), std::string::npos);
}

TEST(MicroBatches, AGradientThatParametersShareIsSummedOnce) {
  const auto gradient_ops = [](std::int64_t parts) {
    Builder net({.batch = 4 / parts, .dtype = DType::f64, .training = true});
    const VarId x = net.input("x", {kWidth}), target = net.input("target", {kWidth});
    const VarId both = net.layer("add", {net.layer("parameter", x, {{"shape", Ints{kWidth}}}, "a"),
                                         net.layer("parameter", x, {{"shape", Ints{kWidth}}}, "b")});
    net.loss("mse", net.layer("add", {x, both}), target);
    NetworkWithGradients made{net.finish(), {}};
    Program& program = made.network.program;
    made.gradients =
        append_backward(program, made.network.loss, {}, append_loss_share(program, made.network.loss, parts));
    made = in_parts(std::move(made), {.parts = parts});
    EXPECT_EQ(made.gradients.size(), 2U);
    EXPECT_EQ(made.gradients[0].grad, made.gradients[1].grad);
    return sum_of(made.network.program, made.gradients[0].grad);
  };
  EXPECT_EQ(gradient_ops(2), "(1+2)");
}

/// Loss, what is correct, gradients.
std::vector<double> results(const NetworkWithGradients& made, std::int64_t samples) {
  const Network& network = made.network;
  Interpreter values(network.program);
  for (const ParamInfo& info : network.params) values.fill_uniform(info.var, -1, 1, 1);
  for (std::int64_t i = 0; i < 2 * samples; ++i) {
    values.set(network.inputs[0], i, static_cast<double>(i % 5) - 1);  // -1 and 2 do not count; 3 and 1, 0 do
    for (std::int64_t j = 0; j < kWidth; ++j)
      values.set(network.inputs[1], i * kWidth + j, 0.3 * static_cast<double>(i % 7) - 0.7 * static_cast<double>(j));
  }
  values.run();
  std::vector<double> all = {values.number(network.loss)};
  for (std::int64_t i = 0; i < 2 * samples; ++i) all.push_back(values.number(network.correct, i));
  for (const ParamGrad& gradient : made.gradients)
    for (std::int64_t i = 0; i < elements(network.program.vars[gradient.grad].shape); ++i)
      all.push_back(values.number(gradient.grad, i));
  return all;
}

TEST(MicroBatches, LossAndGradientsAreThoseOfTheWholeBatchWhereSomeLabelsDoNotCount) {
  for (const std::int64_t parts : {2, 3, 6}) {
    const std::vector<double> whole = results(classifier(6, 1), 6), cut = results(classifier(6, parts), 6);
    ASSERT_EQ(whole.size(), cut.size());
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(whole[i], cut[i], 1e-12) << parts << ": " << i;
  }
}

TEST(MicroBatches, OfLabelsThatAreMadeNobodyCanTellHowManyCountInTheBatch) {
  EXPECT_TRUE(fails_with("looks at all samples at once", [] { classifier(4, 2, true); }));
}

TEST(MicroBatches, TheInputsAreThoseOfTheWholeBatch) {
  const Network network = classifier(6, 3).network;
  EXPECT_EQ(network.inputs, classifier(6, 1).network.inputs);
  for (const VarId v : network.inputs) {
    EXPECT_EQ(network.program.vars[v].kind, Kind::Input);
    EXPECT_EQ(network.program.vars[v].shape[0], 6);
  }
  EXPECT_EQ(network.program.vars[network.correct].shape, (Shape{6, 2}));
}

}  // namespace
}  // namespace lethe::testing
