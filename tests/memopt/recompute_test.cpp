// What is computed again: the tape against the planner, the search against all choices, the programs by their rules.
// That every price gives the same results stands in same_result_test.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "framework/autodiff.h"
#include "framework/builder.h"
#include "framework/micro_batches.h"
#include "framework/op_def.h"
#include "framework/verify.h"
#include "memopt/memopt.h"
#include "memopt/passes/early_update.h"
#include "memopt/passes/mask_picked.h"
#include "memopt/recompute/best_choice.h"
#include "memopt/recompute/repeated.h"
#include "memopt/recompute/search.h"
#include "memopt/recompute/seconds.h"
#include "models/network.h"
#include "optimizer/optimizer.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

struct Taped {
  Program program;
  PinOptions pins;
  Tape tape;
};

Taped taped(const TrainingProgram& made, Prepared& prepared) {
  Taped all{.program = {}, .pins = {.fetched = {made.network.loss}}, .tape = {}};
  const Program& plain = made.network.program;
  all.program = gradients_early(mask_picked(plain, collect_pins(plain, all.pins)));
  all.tape = tape_of(all.program, collect_pins(all.program, all.pins), workspaces_of(all.program, prepared),
                     {.seconds_of = seconds_on(prepared.device())});
  return all;
}

std::int64_t planned_bound(const Program& program, const PinOptions& pins, Prepared& prepared) {
  MemoptOptions options = parse_memopt("level=2");
  options.pins = pins;
  options.views = options.early_updates = false;
  options.seconds = 0.001;
  return plan_memory(program, prepared, options).arena->lower_bound;
}

int updates_of(const Program& program) {
  const std::vector<Op>& ops = program.blocks[0].ops;
  return static_cast<int>(std::count_if(ops.begin(), ops.end(), [](const Op& op) { return op_def(op.type).updates; }));
}

/// Each rung is a program that keeps the rules, whose bound the tape has foreseen, and that updates nothing twice.
void expect_rungs_as_foreseen(const TrainingProgram& made, std::size_t least_rungs) {
  Prepared prepared{DeviceInfo{}};
  const Taped all = taped(made, prepared);
  const std::vector<Rung> rungs = ladder(all.tape);
  ASSERT_GE(rungs.size(), least_rungs);
  EXPECT_EQ(rungs.front().seconds, 0);
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const Program program = repeated(all.program, all.tape, *steps_of(all.tape, rungs[i].choice));
    verify(program);
    EXPECT_EQ(updates_of(program), updates_of(all.program));
    EXPECT_EQ(planned_bound(program, all.pins, prepared), rungs[i].peak) << "rung " << i;
    if (i == 0) continue;
    EXPECT_LT(rungs[i].peak, rungs[i - 1].peak);
    EXPECT_GT(rungs[i].seconds, rungs[i - 1].seconds);
  }
}

TrainingProgram zoo_program(const char* model) {
  return with_updates(with_backward(load_network(model, {.batch = 2, .training = true})), "momentum");
}

TEST(Recompute, TheTapeForeseesWhatThePlannerFinds) {
  expect_rungs_as_foreseen(zoo_program("resnet20"), 20);
  expect_rungs_as_foreseen(zoo_program("mlp"), 1);
}

TEST(Recompute, TheTapeForeseesRandomPrograms) {
  int recomputing = 0, rungs = 0, exact = 0;
  for (int seed = 0; seed < random_programs() / 4; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const TrainingProgram made = with_updates(random_program(static_cast<std::uint64_t>(seed)), "sgd");
    Prepared prepared{DeviceInfo{}};
    const Taped all = taped(made, prepared);
    for (const Rung& rung : ladder(all.tape)) {
      recomputing += rung.seconds > 0 ? 1 : 0;
      const Program program = repeated(all.program, all.tape, *steps_of(all.tape, rung.choice));
      verify(program);
      EXPECT_EQ(updates_of(program), updates_of(all.program));
      const std::int64_t bound = planned_bound(program, all.pins, prepared);
      ++rungs;
      exact += bound == rung.peak ? 1 : 0;
      // An output in a larger input's memory holds all of that, and of several inputs the planner may find a better
      // one.
      EXPECT_NEAR(static_cast<double>(bound), static_cast<double>(rung.peak), 0.1 * static_cast<double>(bound) + 256);
    }
  }
  EXPECT_GT(recomputing, 0);
  EXPECT_GT(100 * exact, 98 * rungs) << exact << " of " << rungs;
}

TEST(Recompute, WhatIsAlikeInThePartsOfABatchIsDecidedTogether) {
  const auto tape = [](std::int64_t parts) {
    Builder net({.batch = 8 / parts, .training = true});
    VarId x = net.input("image", {8, 8, 3});
    for (int i = 0; i < 4; ++i) x = net.layer("relu", net.layer("bn", net.layer("conv", x, {{"out", 4}, {"k", 3}})));
    net.loss("cross_entropy", net.layer("fc", x, {{"out", 4}}), net.input("label", {}, DType::i32), {.ignore = 3});
    NetworkWithGradients made{net.finish(), {}};
    Program& program = made.network.program;
    made.gradients =
        append_backward(program, made.network.loss, {}, append_loss_share(program, made.network.loss, parts));
    if (parts > 1) made = in_parts(std::move(made), parts);
    append_updates(made.network.program, made.gradients, made.network.params, optimizer_named("momentum"));
    Prepared prepared{DeviceInfo{}};
    return tape_of(made.network.program, collect_pins(made.network.program, {.fetched = {made.network.loss}}),
                   workspaces_of(made.network.program, prepared), {.seconds_of = seconds_on(prepared.device())});
  };
  const Tape whole = tape(1), cut = tape(4);
  EXPECT_EQ(cut.parts.size(), 4U);
  EXPECT_GT(whole.candidates.size(), 10U);
  for (const std::vector<VarId>& alike : cut.candidates) EXPECT_EQ(alike.size(), 4U);
  EXPECT_NEAR(static_cast<double>(cut.candidates.size()), static_cast<double>(whole.candidates.size()), 4);
}

/// A tape of `n` forward ops, each of which reads the one before, or up to three earlier ones, and of their gradients.
Tape random_tape(unsigned seed, int n, bool chain) {
  std::mt19937 random(seed);
  const auto pick = [&](int low, int high) { return low + static_cast<int>(random() % (high - low + 1)); };
  Tape tape;
  tape.values.resize(2 * n);  // forward values, then their gradients
  std::vector<TapeOp> backward;
  for (VarId i = 0; i < n; ++i) {
    TapeOp op{.repeats = true, .until = 2 * n};
    if (i > 0) op.call.in = {chain ? i - 1 : std::max(0, i - pick(1, 3))};
    if (!chain && i > 1 && pick(0, 2) == 0)
      if (const int other = pick(0, i - 1); other != op.call.in[0]) op.call.in.push_back(other);
    op.call.out = {i};
    op.call.seconds = pick(1, 10) * (pick(0, 2) == 0 ? 10 : 1);
    tape.values[i] = {.bytes = 10L * pick(1, 20), .maker = i, .turn = n};
    tape.values[n + i].bytes = tape.values[i].bytes / 10;  // so that it matters what is kept
    tape.candidates.push_back({i});
    TapeOp grad{.until = 2 * n};
    grad.call.in = {n + i};
    if (pick(0, 9) > 0) grad.call.in.insert(grad.call.in.end(), op.call.in.begin(), op.call.in.end());
    if (pick(0, 2) == 0) grad.call.in.push_back(i);
    for (const VarId v : op.call.in) grad.call.out.push_back(n + v);
    tape.ops.push_back(std::move(op));
    backward.insert(backward.begin(), std::move(grad));
  }
  tape.parts = {{.turn = n, .end = 2 * n}};
  for (TapeOp& grad : backward) {
    for (const VarId v : grad.call.in)
      if (v < n) tape.values[v].read_by_backward = true;
    tape.ops.push_back(std::move(grad));
  }
  return tape;
}

/// Peaks and seconds of all choices of which none is better in both; what is kept, made again once and each time.
std::vector<Rung> best_of_all(const Tape& tape) {
  const std::vector<Keep> all = {Keep::Kept, Keep::Again, Keep::Each};
  std::vector<Rung> tried;
  Choice choice = keep_all(tape);
  const auto visit = [&](const auto& self, std::size_t i) -> void {
    if (i == tape.candidates.size()) {
      const Course course = course_of(tape, *steps_of(tape, choice));
      tried.push_back({choice, course.peak, course.seconds});
      return;
    }
    for (const Keep keep : all) {
      choice[tape.candidates[i].front()] = keep;
      self(self, i + 1);
    }
  };
  visit(visit, 0);
  std::stable_sort(tried.begin(), tried.end(), [](const Rung& a, const Rung& b) {
    return std::pair(a.peak, a.seconds) < std::pair(b.peak, b.seconds);
  });
  std::vector<Rung> best;
  for (Rung& rung : tried)
    if (best.empty() || rung.seconds < best.back().seconds) best.push_back(std::move(rung));
  return best;
}

void expect_the_best_is_found(bool chain) {
  int points = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Tape tape = random_tape(seed, 7, chain);
    for (const Rung& best : best_of_all(tape)) {
      const std::optional<Rung> found = cheapest_within(tape, best.peak);
      ASSERT_TRUE(found) << "seed " << seed;
      EXPECT_LE(found->seconds, best.seconds) << "seed " << seed << ", peak " << best.peak;
      EXPECT_LE(found->peak, best.peak);
      const BestChoice alone = best_choice(tape, best.peak, std::nullopt, 100'000);
      EXPECT_TRUE(alone.is_best);
      EXPECT_EQ(alone.rung->seconds, best.seconds) << "seed " << seed << ", peak " << best.peak;
      ++points;
    }
  }
  EXPECT_GT(points, 120);
}

TEST(Recompute, TheSearchFindsTheBestOfSmallGraphs) { expect_the_best_is_found(false); }

TEST(Recompute, TheSearchFindsTheBestOfSmallChains) { expect_the_best_is_found(true); }

/// Whether all choices were seen, on the way from all kept down to as little as can be.
std::vector<bool> exhausted(const Tape& tape, int most) {
  std::vector<bool> all;
  const std::vector<Rung> rungs = ladder(tape);
  const std::int64_t most_bytes = rungs.front().peak, least = rungs.back().peak;
  for (int i = 0; i <= 3; ++i) {
    const std::int64_t target = most_bytes - (most_bytes - least) * i / 3;
    const std::optional<Rung> found = cheapest_within(tape, target);
    const BestChoice best = best_choice(tape, target, found, most);
    EXPECT_EQ(best.rung->seconds, found->seconds);
    all.push_back(best.is_best);
  }
  return all;
}

TEST(Recompute, OfChainsOfTwentyValuesAllChoicesAreSeen) {
  for (unsigned seed = 0; seed < 2; ++seed)
    for (const bool all : exhausted(random_tape(seed, 20, true), 100'000)) EXPECT_TRUE(all) << "seed " << seed;
}

TEST(Recompute, ASearchOfAllChoicesThatIsStoppedSaysSo) {
  const Tape tape = random_tape(3, 12, false);
  const std::int64_t least = ladder(tape).back().peak;
  EXPECT_FALSE(best_choice(tape, least, std::nullopt, 20).is_best);
  EXPECT_TRUE(best_choice(tape, least, std::nullopt, 1'000'000).is_best);
  EXPECT_FALSE(best_choice(tape, least - 1, std::nullopt, 1'000'000).rung);
}

TEST(Recompute, NothingIsMadeAgainOfWhatHasChangedSince) {
  Tape tape = random_tape(1, 5, true);
  Choice choice = keep_all(tape);
  for (const std::vector<VarId>& alike : tape.candidates) choice[alike.front()] = Keep::Each;
  ASSERT_TRUE(steps_of(tape, choice).has_value());
  for (TapeOp& op : tape.ops) op.until = tape.parts.front().turn - 1;
  EXPECT_FALSE(steps_of(tape, choice).has_value());
}

}  // namespace
}  // namespace lethe::testing
