// The end of the ladder, where bytes are scarce: what annealing has to reach, and that it is the same each time.
#include <gtest/gtest.h>

#include <algorithm>

#include "framework/builder/builder.h"
#include "memopt/passes/early_update.h"
#include "memopt/plan.h"
#include "memopt/recompute/annealing.h"
#include "memopt/recompute/search.h"
#include "memopt/recompute/segments.h"
#include "models/network.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

/// As level 3 sees a step of training.
Tape tape_in_training(Network network) {
  const TrainingProgram made = with_updates(with_backward(std::move(network)), "momentum");
  Prepared prepared{DeviceInfo{}};
  MemoptOptions options = suited(parse_memopt("level=3"), prepared.device());
  options.pins.fetched = {made.network.loss};
  const MemoryStage stage(prepared, options);
  Planned form{.program = made.network.program};
  stage.rewrite_for_arena(form);
  stage.order_for_repeats(form);
  return stage.tape_for(form.program);
}

/// Blocks whose layers read all before them in the block, as DenseNet's do.
Network dense_network() {
  Builder net({.batch = 8, .training = true});
  VarId x = net.layer("conv", net.input("image", {32, 32, 3}), {{"out", 16}, {"k", 3}});
  for (int block = 0; block < 3; ++block) {
    for (int i = 0; i < 4; ++i) {
      const VarId made = net.layer("conv", net.layer("relu", net.layer("bn", x)), {{"out", 12}, {"k", 3}});
      x = net.layer("concat", {x, made});
    }
    x = net.layer("avg_pool", net.layer("conv", x, {{"out", 32}, {"k", 1}}), {{"k", 2}});
  }
  net.loss("cross_entropy", net.layer("fc", x, {{"out", 10}}), net.input("label", {}, DType::i32));
  return net.finish();
}

/// What is taken costs no more than a forward pass, but for the last two rungs, which cost no more than two. Those are
/// passed over whose bytes a cheaper one keeps: rungs of greedy moves, each of which peaks lower than the one before.
void expect_fair_rungs(const Tape& tape) {
  const std::vector<Rung> rungs = ladder(tape);
  ASSERT_GT(rungs.size(), 20U);
  std::vector<Rung> taken = {rungs.front()};
  std::int64_t passed = rungs.front().peak;
  for (std::size_t i = 1; i < rungs.size(); ++i) {
    EXPECT_GT(rungs[i].seconds, rungs[i - 1].seconds);
    if (rungs[i].peak < taken.back().peak) {
      taken.push_back(rungs[i]);
    } else {
      EXPECT_LT(rungs[i].peak, passed) << "rung " << i;
      passed = rungs[i].peak;
    }
  }
  for (std::size_t i = 0; i < taken.size(); ++i)
    EXPECT_LE(taken[i].seconds, (i + 2 < taken.size() ? 1 : 2) * tape.forward_seconds)
        << "rung " << i << " of " << taken.size() << ", " << taken[i].peak << " bytes";
}

#ifdef LETHE_HAS_ONEDNN
constexpr bool kHasOneDnn = true;
#else
constexpr bool kHasOneDnn = false;
#endif

TEST(TightLadder, NoRungButTheLastOnesCostsMoreThanAForwardPass) {
  if (!kHasOneDnn) GTEST_SKIP() << "without oneDNN's workspaces and times other rungs are found";
  for (const char* model : {"resnet20", "unet"}) {
    SCOPED_TRACE(model);
    expect_fair_rungs(tape_in_training(load_network(model, {.batch = 8, .training = true})));
  }
  expect_fair_rungs(tape_in_training(dense_network()));
}

std::int64_t lowest_for_a_forward_pass(const Tape& tape, const std::vector<Rung>& rungs) {
  std::int64_t lowest = rungs.front().peak;
  for (const Rung& rung : rungs)
    if (rung.seconds <= tape.forward_seconds) lowest = std::min(lowest, rung.peak);
  return lowest;
}

TEST(TightLadder, Resnet50HasRungsDownToWhereAForwardPassIsNotEnough) {
  if (!kHasOneDnn) GTEST_SKIP() << "without oneDNN's workspaces and times other rungs are found";
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "the share is that with workspaces of AVX-512";
  const Tape tape = tape_in_training(load_network("resnet50", {.batch = 8, .training = true}));
  const std::vector<Rung> rungs = ladder(tape);
  EXPECT_LT(static_cast<double>(lowest_for_a_forward_pass(tape, rungs)), 0.19 * static_cast<double>(rungs.front().peak))
      << "0.20 without halves";
}

/// Greedy moves alone take 380, 358 and 21 % of a step.
TEST(TightLadder, Resnet20IsNearTheBestKnown) {
  if (!kHasOneDnn) GTEST_SKIP() << "without oneDNN's workspaces and times other rungs are found";
  const Tape tape = tape_in_training(load_network("resnet20", {.batch = 8, .training = true}));
  const std::vector<Rung> rungs = ladder(tape);
  const auto least_within = [&](double mib) {
    const auto fits = [&](const Rung& rung) { return static_cast<double>(rung.peak) <= mib * (1 << 20); };
    const auto rung = std::ranges::find_if(rungs, fits);
    return rung == rungs.end() ? 1e9 : overhead_of(tape, *rung);
  };
  EXPECT_LT(least_within(3.2), 0.5);
  EXPECT_LT(least_within(3.44), 1.15 * 0.36);
  EXPECT_LT(least_within(4.2), 0.19);
  EXPECT_LT(static_cast<double>(lowest_for_a_forward_pass(tape, rungs)), 0.25 * static_cast<double>(rungs.front().peak))
      << "0.27 without segments, 0.26 if greedy moves do not go on from them";
}

TEST(TightLadder, SegmentsOfAChainStepDown) {
  Builder net({.batch = 8, .training = true});
  VarId x = net.input("x", {64});
  for (int i = 0; i < 24; ++i) x = net.layer("tanh", net.layer("fc", x, {{"out", 64}}));
  net.loss("cross_entropy", net.layer("fc", x, {{"out", 10}}), net.input("label", {}, DType::i32));
  const Tape tape = tape_in_training(net.finish());
  std::int64_t above = course_of(tape, *steps_of(tape, keep_all(tape))).peak;
  const std::vector<Rung> rungs = segmented(tape);
  ASSERT_GT(rungs.size(), 3U);
  for (const Rung& rung : rungs) {
    const Course course = course_of(tape, *steps_of(tape, rung.choice));
    EXPECT_EQ(course.peak, rung.peak);
    EXPECT_EQ(course.seconds, rung.seconds);
    EXPECT_LT(rung.peak, above);
    EXPECT_LE(rung.seconds, tape.forward_seconds) << "each op runs once more at most";
    above = rung.peak;
  }
}

TEST(TightLadder, IsTheSameEachTime) {
  const Tape tape = tape_in_training(dense_network());
  const std::vector<Rung> once = ladder(tape), again = ladder(tape);
  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].choice, again[i].choice) << "rung " << i;
}

TEST(TightLadder, AnAnnealingKeepsItsTarget) {
  const Tape tape = tape_in_training(dense_network());
  const Rung all{.choice = keep_all(tape), .peak = course_of(tape, *steps_of(tape, keep_all(tape))).peak};
  const std::int64_t target = all.peak / 4 * 3;
  const std::optional<Rung> made = annealed(tape, all, target, 1e6, 0);
  ASSERT_TRUE(made);
  const Course course = course_of(tape, *steps_of(tape, made->choice));
  EXPECT_EQ(course.peak, made->peak);
  EXPECT_EQ(course.seconds, made->seconds);
  EXPECT_LE(made->peak, target);
  EXPECT_GT(made->seconds, 0);
  EXPECT_FALSE(annealed(tape, all, least_peak(tape) - 1, 1e5, 0)) << "no choice peaks lower";
}

}  // namespace
}  // namespace lethe::testing
