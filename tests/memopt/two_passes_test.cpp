#include "memopt/passes/two_passes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "framework/autodiff/loss_share.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "framework/ranks/micro_batches.h"
#include "models/network.h"
#include "optimizer/optimizer.h"
#include "tests/memopt/same_result.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_control.h"
#include "tests/support/random_training.h"

namespace lethe::testing {
namespace {

constexpr double kMaxNorm = 0.01;  // below that of most gradients

/// With clipped updates; in f16 of a scaled loss, whose gradients some networks cannot hold.
TrainingProgram clipped(Network network, OptimizerSettings settings, DType dtype = DType::f32, bool narrow = false) {
  TrainingProgram made{.network = std::move(network), .grads = {}};
  Network& net = made.network;
  LossScale scale;
  if (dtype == DType::f16) scale = append_loss_scale(net.program);
  made.grads = append_backward(net.program, net.loss, {}, scale.scale, net.frozen, narrow);
  settings.clip_norm = kMaxNorm;
  net.inputs.push_back(append_updates(net.program, made.grads, net.params, settings, scale).learning_rate);
  return made;
}

TrainingProgram clipped(Network network, const std::string& optimizer) {
  return clipped(std::move(network), optimizer_named(optimizer));
}

Network zoo(const char* model, const Sets& sets = {}) {
  return load_network(model, {.batch = 2, .training = true}, sets);
}

const Sets kSmallGpt = {{"vocab", "64"}, {"length", "8"}, {"width", "64"}, {"layers", "2"}, {"heads", "2"}};

MemoptOptions in_passes(const std::string& memopt, int passes, const Network& network) {
  MemoptOptions options = options_of(memopt, false, network);
  options.clip_passes = passes;
  return options;
}

/// Two steps; of tokens, which random numbers are none of, twice the same.
Given steps_of(const Network& network) {
  const bool tokens = network.program.vars[network.inputs.front()].dtype == DType::i32;
  Given given = given_to(network, tokens ? 1 : 2);
  if (tokens) given.inputs.push_back(given.inputs.front());
  return given;
}

/// One pass and two, under every setting: the same parameters, states and losses, and as many bytes as predicted.
void expect_the_same_in_two_passes(const TrainingProgram& made) {
  const Given given = steps_of(made.network);
  const Outcome once = run_under(made, in_passes("none", 1, made.network), given);
  for (const char* setting : {"none", "level=0", "level=1,release,inplace", "level=2", "level=3"}) {
    SCOPED_TRACE(setting);
    const Outcome twice = run_under(made, in_passes(setting, 2, made.network), given);
    EXPECT_EQ(twice.losses, once.losses);
    EXPECT_EQ(twice.store, once.store);
    if (made.network.program.blocks.size() == 1) {
      EXPECT_EQ(twice.taken, twice.predicted);
    }
  }
}

TEST(TwoPasses, GiveTheSameBitsOfRandomPrograms) {
  constexpr DType kDTypes[] = {DType::f32, DType::f64, DType::bf16, DType::f16};
  for (const int seed : random_seeds()) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const auto random = static_cast<std::uint64_t>(seed);
    const BuildOptions options{.batch = 3, .dtype = kDTypes[random % std::size(kDTypes)], .training = true};
    const bool narrow = random / std::size(kDTypes) % 2 == 1;
    expect_the_same_in_two_passes(clipped(random_network(random, options), random_rule(random), options.dtype, narrow));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(TwoPasses, GiveTheSameBitsOfLoopsAndBranches) {
  for (const int seed : random_seeds(random_programs() / 3)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const BuildOptions options{.batch = 3, .dtype = DType::f32, .training = true};
    OptimizerSettings rule = optimizer_named("adamw");
    rule.states_in_8_bits = seed % 2 == 0;
    rule.min_8bit_size = 1;
    expect_the_same_in_two_passes(clipped(random_control_network(static_cast<std::uint64_t>(seed), options), rule));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(TwoPasses, GiveTheSameBitsOfATiedHeadWithoutLogits) {
  for (const char* optimizer : {"adamw", "lion", "momentum"})
    expect_the_same_in_two_passes(clipped(zoo("gpt2", kSmallGpt), optimizer));
}

TEST(TwoPasses, TheSecondMakesTheGradientsOfTheFirst) {
  const TrainingProgram made = clipped(zoo("gpt2", kSmallGpt), "adamw");
  const Outcome outcome = run_under(made, in_passes("none", 2, made.network), steps_of(made.network));
  for (const auto& step : outcome.hashes)
    for (const ParamGrad& pair : made.grads) {
      const std::string& name = made.network.program.vars[pair.grad].name;
      EXPECT_EQ(step.at(name + "@PASS2"), step.at(name)) << name;
    }
}

TEST(TwoPasses, LeaveVarsTheirIdsAndNoUpdateAGradientOfTheFirst) {
  const Program before = clipped(zoo("lenet"), "adamw").network.program, after = two_passes(before);
  verify(after);
  ASSERT_GT(after.vars.size(), before.vars.size());
  EXPECT_TRUE(std::equal(before.vars.begin(), before.vars.end(), after.vars.begin()));
  int updates = 0;
  for (const Op& op : after.blocks[0].ops) {
    const VarId gradient = update_gradient(op);
    updates += gradient != kNone;
    EXPECT_TRUE(gradient == kNone || gradient >= static_cast<VarId>(before.vars.size())) << text_of(after, op);
  }
  EXPECT_GT(updates, 0);
}

TEST(TwoPasses, TakeFewerBytes) {
  const TrainingProgram made = clipped(zoo("gpt2", kSmallGpt), "adamw");
  const auto bytes = [&](const char* setting, int passes) {
    Prepared prepared(DeviceInfo{});
    return plan_memory(made.network.program, prepared, in_passes(setting, passes, made.network)).arena->bytes;
  };
  std::int64_t gradients = 0;
  for (const ParamGrad& pair : made.grads) gradients += bytes_of(made.network.program.vars[pair.grad]);
  for (const char* setting : {"level=2", "level=3"}) {
    const std::int64_t once = bytes(setting, 1), twice = bytes(setting, 2);
    EXPECT_GE(once, gradients) << setting;
    EXPECT_LT(twice, once - gradients / 2) << setting << ": gradients are " << gradients;
  }
}

/// Planned for what level 3 takes in two passes.
class BudgetOfTwo : public ::testing::Test {
 protected:
  MemoptOptions options(std::optional<std::int64_t> budget) const {
    MemoptOptions asked = options_of("level=3", false, made_.network);
    asked.budget = budget;
    return asked;
  }
  Planned planned(const MemoptOptions& asked) {
    Prepared prepared(DeviceInfo{});
    return plan_memory(made_.network.program, prepared, asked);
  }
  const TrainingProgram made_ = clipped(zoo("gpt2", kSmallGpt), "adamw");
};

TEST_F(BudgetOfTwo, IsKeptByTwoPassesWhereOneIsTooMuch) {
  MemoptOptions once = options(1), twice = options(1);
  once.clip_passes = 1;
  twice.clip_passes = 2;
  const std::int64_t least_once = bytes_of(planned(once)), least = bytes_of(planned(twice));
  ASSERT_LT(least, least_once);
  const Planned fits = planned(options(least));
  EXPECT_EQ(bytes_of(fits), least);
  ASSERT_TRUE(fits.second_pass && fits.recomputed);
  EXPECT_GT(fits.second_pass->overhead, 0.2);
  EXPECT_GE(fits.recomputed->overhead, fits.second_pass->overhead);
  EXPECT_GE(fits.recomputed->ops, fits.second_pass->ops);
  EXPECT_FALSE(planned(options(least_once)).second_pass) << "one pass fits";
  MemoptOptions cheap = options(least);
  cheap.overhead = 0.1;
  const Planned dear = planned(cheap);
  EXPECT_FALSE(dear.second_pass) << "that costs more than was allowed";
  EXPECT_LT(*dear.recomputed->least_feasible, least_once) << "at another price";
  once.budget = least;
  EXPECT_FALSE(planned(once).second_pass) << "one pass was asked for";
}

TEST(TwoPasses, CountWhatTheSecondRunsOnceMore) {
  const TrainingProgram made = clipped(zoo("lenet"), "momentum");
  std::int64_t backward = 0;
  int ops = 0;
  for (const Op& op : made.network.program.blocks[0].ops)
    if (op.role == Role::Backward && !op_def(op.type).is_view())
      ++ops, backward += mult_adds_of(made.network.program, op);
  Prepared prepared(DeviceInfo{});
  const Planned planned = plan_memory(made.network.program, prepared, in_passes("none", 2, made.network));
  ASSERT_TRUE(planned.second_pass && planned.recomputed);
  EXPECT_EQ(planned.second_pass->ops, ops);
  EXPECT_EQ(planned.second_pass->mult_adds, backward);
  EXPECT_EQ(planned.recomputed->mult_adds, backward);
}

TEST(TwoPasses, AreRefusedByNameWhereTheyCannotBe) {
  Prepared prepared(DeviceInfo{});
  const auto refusal = [&](const Program& program, bool skip_grads = false) {
    MemoptOptions options = parse_memopt("level=2");
    options.clip_passes = 2;
    options.pins.skip_grads = skip_grads;
    return error_of([&] { plan_memory(program, prepared, options); });
  };
  EXPECT_EQ(refusal(with_updates(with_backward(zoo("lenet")), "sgd").network.program),
            "`clip_passes` 2 needs `clip_norm` or `dtype` f16: no update waits for all gradients");
  const Program clipping = clipped(zoo("lenet"), "sgd").network.program;
  EXPECT_EQ(refusal(clipping, true), "`clip_passes` 2 goes without `skip_grads`, which keeps every parameter gradient");
  EXPECT_EQ(refusal(clipping), "(nothing)");
  Network part = zoo("lenet");
  const VarId share = append_loss_share(part.program, part.loss, 2);
  std::vector<ParamGrad> gradients = append_backward(part.program, part.loss, {}, share);
  NetworkWithGradients whole = in_parts({std::move(part), std::move(gradients)}, {.parts = 2});
  OptimizerSettings settings = optimizer_named("sgd");
  settings.clip_norm = 1;
  append_updates(whole.network.program, whole.gradients, whole.network.params, settings);
  EXPECT_EQ(refusal(whole.network.program),
            "`clip_passes` 2 is for a batch in one part: the sums over parts stand until the last part in any case");
}

}  // namespace
}  // namespace lethe::testing
