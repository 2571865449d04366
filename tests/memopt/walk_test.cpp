// A walk that goes on from what was kept takes the steps, and gives what they come to, as one that begins anew.
#include "memopt/recompute/walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "framework/autodiff/autodiff.h"
#include "framework/autodiff/loss_share.h"
#include "framework/random.h"
#include "framework/ranks/micro_batches.h"
#include "memopt/passes/two_passes.h"
#include "memopt/plan.h"
#include "models/network.h"
#include "optimizer/optimizer.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

Tape tape_of_program(const Network& network) {
  Prepared prepared{DeviceInfo{}};
  const Program& program = network.program;
  return tape_of(program, collect_pins(program, {.fetched = {network.loss}}), workspaces_of(program, prepared),
                 {.seconds_of = seconds_on(prepared.device())});
}

Network network_of(const char* model) { return load_network(model, {.batch = 2, .training = true}); }

Tape tape_of_model(const char* model) {
  return tape_of_program(with_updates(with_backward(network_of(model)), "sgd").network);
}

/// Of a batch in four parts.
Tape tape_in_parts(const char* model) {
  NetworkWithGradients made{network_of(model), {}};
  Program& program = made.network.program;
  const VarId loss = made.network.loss;
  made.gradients = append_backward(program, loss, {}, append_loss_share(program, loss, 4));
  made = in_parts(std::move(made), {.parts = 4});
  append_updates(made.network.program, made.gradients, made.network.params, optimizer_named("sgd"));
  return tape_of_program(made.network);
}

/// With clipping, for whose norm backward runs twice.
Tape tape_in_two_passes(const char* model) {
  Network network = network_of(model);
  OptimizerSettings settings = optimizer_named("sgd");
  settings.clip_norm = 1;
  append_updates(network.program, append_backward(network.program, network.loss), network.params, settings);
  network.program = two_passes(network.program);
  return tape_of_program(network);
}

bool same_course(const Course& a, const Course& b) {
  return a.peak == b.peak && a.seconds == b.seconds && a.alive == b.alive &&
         std::ranges::equal(a.instances, b.instances, [](const Instance& x, const Instance& y) {
           return x.value == y.value && x.born == y.born && x.last == y.last;
         });
}

bool same_steps(const std::vector<Step>& a, const std::vector<Step>& b) {
  return std::ranges::equal(a, b, [](const Step& x, const Step& y) {
    return x.op == y.op && x.repeated == y.repeated && x.again == y.again;
  });
}

struct Walked {
  int repeating = 0, refused = 0;
};

/// Changes one to four candidates at a time, and keeps about every third choice that can be run. From the middle on it
/// goes on with a copy.
Walked expect_as_from_the_start(const Tape& tape, int changes, std::uint64_t seed) {
  constexpr RecomputePolicy kAll[] = {RecomputePolicy::Keep, RecomputePolicy::Once, RecomputePolicy::PerCluster,
                                      RecomputePolicy::PerUse};
  Walked walked;
  if (tape.candidates.empty()) return walked;
  Random random(seed);
  const auto below = [&](std::size_t bound) { return random.below(static_cast<std::uint32_t>(bound)); };
  Walk first(tape, true);
  Choice kept = keep_all(tape);
  EXPECT_TRUE(first.run(kept));
  first.keep();
  std::optional<Walk> second;
  for (int n = 0; n < changes; ++n) {
    if (n == changes / 2) second = first;
    Walk& walk = second ? *second : first;
    Choice choice = kept;
    for (std::uint32_t k = 0, count = 1 + below(4); k < count; ++k) {
      const RecomputePolicy to = kAll[below(4)];
      for (const VarId v : tape.candidates[below(tape.candidates.size())]) choice[v] = to;
    }
    const auto steps = steps_of(tape, choice);
    EXPECT_EQ(walk.run(choice), steps.has_value());
    if (!steps) {
      ++walked.refused;
      continue;
    }
    EXPECT_TRUE(same_steps(walk.steps(), *steps));
    EXPECT_TRUE(same_course(walk.course(), course_of(tape, *steps)));
    walked.repeating += walk.course().seconds > 0 ? 1 : 0;
    if (below(3) > 0) continue;
    walk.keep();
    kept = choice;
  }
  return walked;
}

TEST(Walk, GoesOnAsItWouldFromTheStart) {
  for (const char* model : {"resnet20", "char_gpt_cpu"})
    EXPECT_GT(expect_as_from_the_start(tape_of_model(model), 300, 1).repeating, 200) << model;
}

TEST(Walk, GoesOnAmongPartsOfABatch) {
  EXPECT_GT(expect_as_from_the_start(tape_in_parts("resnet20"), 100, 2).repeating, 50);
}

TEST(Walk, GoesOnInASecondPass) {
  const Tape tape = tape_in_two_passes("resnet20");
  EXPECT_LT(tape.second_pass, std::ssize(tape.ops));
  EXPECT_GT(expect_as_from_the_start(tape, 100, 3).repeating, 50);
}

/// What values are made of has changed by the last part of backward.
TEST(Walk, GoesOnAfterAChoiceThatCannotBeRun) {
  Tape tape = tape_of_model("resnet20");
  for (TapeOp& op : tape.ops) op.until = std::min(op.until, static_cast<int>(tape.ops.size()) * 6 / 10);
  const Walked walked = expect_as_from_the_start(tape, 300, 4);
  EXPECT_GT(walked.refused, 20);
  EXPECT_GT(walked.repeating, 20);
}

TEST(Walk, GoesOnAsItWouldFromTheStartOfRandomPrograms) {
  int repeating = 0;
  for (const int seed : random_seeds()) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const auto number = static_cast<std::uint64_t>(seed);
    const Tape tape = tape_of_program(with_updates(random_program(number), "sgd").network);
    repeating += expect_as_from_the_start(tape, 30, number).repeating;
  }
  EXPECT_GT(repeating, 0);
}

TEST(Walk, KeepsARunThatThereIs) {
  const Tape tape = tape_of_model("mlp");
  Walk walk(tape, true);
  EXPECT_NE(error_of([&] { walk.keep(); }).find("no run to keep"), std::string::npos);
}

}  // namespace
}  // namespace lethe::testing
