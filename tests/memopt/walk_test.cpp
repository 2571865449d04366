// A walk that goes on from what was kept takes the steps, and gives what they come to, as one that begins anew.
#include "memopt/recompute/walk.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "framework/random.h"
#include "memopt/plan.h"
#include "models/network.h"
#include "optimizer/optimizer.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

Tape tape_of_made(const TrainingProgram& made) {
  Prepared prepared{DeviceInfo{}};
  const Program& program = made.network.program;
  return tape_of(program, collect_pins(program, {.fetched = {made.network.loss}}), workspaces_of(program, prepared),
                 {.seconds_of = seconds_on(prepared.device())});
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

/// Changes one to four candidates at a time, and keeps about every third choice that can be run. The number of runs
/// that made something again.
int expect_as_from_the_start(const Tape& tape, int changes, std::uint64_t seed) {
  constexpr RecomputePolicy kAll[] = {RecomputePolicy::Keep, RecomputePolicy::Once, RecomputePolicy::PerCluster,
                                      RecomputePolicy::PerUse};
  if (tape.candidates.empty()) return 0;
  Random random(seed);
  const auto below = [&](std::size_t bound) { return random.below(static_cast<std::uint32_t>(bound)); };
  Walk walk(tape);
  Choice kept = keep_all(tape);
  EXPECT_TRUE(walk.run(kept));
  walk.keep();
  int repeating = 0;
  for (int n = 0; n < changes; ++n) {
    Choice choice = kept;
    for (std::uint32_t k = 0, count = 1 + below(4); k < count; ++k) {
      const RecomputePolicy to = kAll[below(4)];
      for (const VarId v : tape.candidates[below(tape.candidates.size())]) choice[v] = to;
    }
    const auto steps = steps_of(tape, choice);
    EXPECT_EQ(walk.run(choice), steps.has_value());
    if (!steps) continue;
    EXPECT_TRUE(same_steps(walk.steps(), *steps));
    EXPECT_TRUE(same_course(walk.course(), course_of(tape, *steps)));
    repeating += walk.course().seconds > 0 ? 1 : 0;
    if (below(3) > 0) continue;
    walk.keep();
    kept = choice;
  }
  return repeating;
}

TEST(Walk, GoesOnAsItWouldFromTheStart) {
  for (const char* model : {"resnet20", "char_gpt_cpu"})
    EXPECT_GT(expect_as_from_the_start(
                  tape_of_made(with_updates(with_backward(load_network(model, {.batch = 2, .training = true})), "sgd")),
                  300, 1),
              200)
        << model;
}

TEST(Walk, GoesOnAsItWouldFromTheStartOfRandomPrograms) {
  int repeating = 0;
  for (const int seed : random_seeds()) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const auto number = static_cast<std::uint64_t>(seed);
    repeating += expect_as_from_the_start(tape_of_made(with_updates(random_program(number), "sgd")), 30, number);
  }
  EXPECT_GT(repeating, 0);
}

}  // namespace
}  // namespace lethe::testing
