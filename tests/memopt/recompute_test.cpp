// What is computed again: the tape against the planner, the search against all choices, the programs by their rules.
// That every price gives the same results stands in same_result_test.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "framework/autodiff/autodiff.h"
#include "framework/autodiff/loss_share.h"
#include "framework/builder/builder.h"
#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "framework/ranks/micro_batches.h"
#include "memopt/passes/early_update.h"
#include "memopt/passes/fuse_masks.h"
#include "memopt/passes/join_masks.h"
#include "memopt/passes/mask_picked.h"
#include "memopt/passes/mask_sums.h"
#include "memopt/plan.h"
#include "memopt/recompute/best_choice.h"
#include "memopt/recompute/descent.h"
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
  all.program = plain;
  for (const auto pass : {mask_picked, fuse_masks, mask_sums})
    all.program = pass(all.program, collect_pins(all.program, all.pins));
  all.program = gradients_early(join_masks(all.program));
  all.tape = tape_of(all.program, collect_pins(all.program, all.pins), workspaces_of(all.program, prepared),
                     {.seconds_of = seconds_on(prepared.device())});
  return all;
}

std::int64_t planned_bound(const Program& program, const PinOptions& pins, Prepared& prepared) {
  MemoptOptions options = parse_memopt("level=2");
  options.pins = pins;
  options.views = false;
  return MemoryStage(prepared, options).keep_all({.program = program}, 0.001).arena->lower_bound;
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
  EXPECT_FALSE(cheapest_within(all.tape, least_peak(all.tape) - 1));
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const Program program = repeated(all.program, all.tape, *steps_of(all.tape, rungs[i].choice));
    verify(program);
    EXPECT_EQ(updates_of(program), updates_of(all.program));
    EXPECT_EQ(planned_bound(program, all.pins, prepared), rungs[i].peak) << "rung " << i;
    if (i == 0) continue;
    EXPECT_TRUE(rungs[i].peak < rungs[i - 1].peak || !is_small(all.tape)) << "rung " << i;
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
  for (const int seed : random_seeds(std::max(random_programs() / 4, 20))) {  // of fewer none may compute again
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
    if (parts > 1) made = in_parts(std::move(made), {.parts = parts});
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

/// A forward op of a made tape, known by its number, which is its value's, too.
struct MadeOp {
  std::vector<VarId> reads = {}, saved = {};  // values; what its gradient reads of them
  std::int64_t bytes = 0, more_bytes = 0;     // more: of a second output, which its gradient reads
  double seconds = 1;
};

/// With the gradients of all ops in reverse; those of values take `part` of their bytes.
Tape tape_of(const std::vector<MadeOp>& ops, double part) {
  const auto n = static_cast<VarId>(ops.size());
  const int count = 2 * n;
  Tape tape;
  tape.values.resize(3 * static_cast<std::size_t>(n));  // forward values, their gradients, second outputs
  for (VarId i = 0; i < n; ++i) {
    const MadeOp& made = ops[i];
    TapeOp op{.repeats = true, .until = count};
    op.call = {.in = made.reads, .out = {i}, .seconds = made.seconds};
    tape.values[i] = {.bytes = made.bytes, .maker = i, .turn = n};
    tape.values[n + i].bytes = static_cast<std::int64_t>(static_cast<double>(made.bytes) * part);
    tape.candidates.push_back({i});
    if (made.more_bytes > 0) {
      op.call.out.push_back(count + i);
      tape.values[count + i] = {.bytes = made.more_bytes, .maker = i, .turn = n, .read_by_backward = true};
      tape.candidates.push_back({count + i});
    }
    tape.ops.push_back(std::move(op));
  }
  tape.parts = {{.turn = n, .end = count}};
  for (VarId i = n; i-- > 0;) {
    TapeOp grad{.until = count};
    grad.call.in = {n + i};
    grad.call.in.insert(grad.call.in.end(), ops[i].saved.begin(), ops[i].saved.end());
    if (ops[i].more_bytes > 0) grad.call.in.push_back(count + i);
    for (const VarId v : ops[i].reads) grad.call.out.push_back(n + v);
    for (const VarId v : ops[i].saved) tape.values[v].read_by_backward = true;
    tape.ops.push_back(std::move(grad));
  }
  return tape;
}

/// `n` forward ops, each of which reads the one before, or up to three earlier ones.
Tape random_tape(unsigned seed, int n, bool chain) {
  std::mt19937 random(seed);
  const auto pick = [&](int low, int high) { return low + static_cast<int>(random() % (high - low + 1)); };
  std::vector<MadeOp> ops;
  for (VarId i = 0; i < n; ++i) {
    MadeOp op{.bytes = 10L * pick(1, 20), .seconds = pick(1, 10) * (pick(0, 2) == 0 ? 10.0 : 1.0)};
    if (i > 0) op.reads = {chain ? i - 1 : std::max(0, i - pick(1, 3))};
    if (!chain && i > 1 && pick(0, 2) == 0)
      if (const int other = pick(0, i - 1); other != op.reads[0]) op.reads.push_back(other);
    if (pick(0, seed % 2 == 0 ? 9 : 1) > 0) op.saved = op.reads;
    if (pick(0, 2) == 0) op.saved.push_back(i);
    if (!chain && i % 4 == 2) op.more_bytes = 10L * pick(1, 10);
    ops.push_back(std::move(op));
  }
  return tape_of(ops, seed % 3 == 0 ? 1 : 0.1);
}

/// Peaks and seconds of all choices of which none is better in both; what is kept, made again once and each time.
std::vector<Rung> best_of_all(const Tape& tape) {
  const std::vector<RecomputePolicy> all = {RecomputePolicy::Keep, RecomputePolicy::Once, RecomputePolicy::PerUse};
  std::vector<Rung> tried;
  Choice choice = keep_all(tape);
  const auto visit = [&](const auto& self, std::size_t i) -> void {
    if (i == tape.candidates.size()) {
      const Course course = course_of(tape, *steps_of(tape, choice));
      tried.push_back({choice, course.peak, course.seconds});
      return;
    }
    for (const RecomputePolicy policy : all) {
      choice[tape.candidates[i].front()] = policy;
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
  int points = 0, at_least = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    const Tape tape = random_tape(seed, chain ? 7 : 6, chain);
    const std::vector<Rung> all = best_of_all(tape);
    EXPECT_LE(least_peak(tape), all.front().peak) << "seed " << seed;
    at_least += least_peak(tape) == all.front().peak ? 1 : 0;
    for (const Rung& best : all) {
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
  EXPECT_GT(points, 100);
  EXPECT_GT(at_least, 2);
}

TEST(Recompute, TheSearchFindsTheBestOfSmallGraphs) { expect_the_best_is_found(false); }

TEST(Recompute, TheSearchFindsTheBestOfSmallChains) { expect_the_best_is_found(true); }

/// Two beginnings with as many bytes at the turn, of which one has more before it.
TEST(Recompute, TheSearchLooksAtAllThatIsAliveAfterABeginning) {
  const Tape tape = tape_of({{.saved = {0}, .bytes = 120, .seconds = 8},
                             {.reads = {0}, .saved = {0}, .bytes = 170, .seconds = 1},
                             {.reads = {1}, .saved = {2}, .bytes = 20, .seconds = 9},
                             {.reads = {0}, .saved = {0, 3}, .bytes = 60, .seconds = 70},
                             {.reads = {3}, .saved = {4}, .bytes = 130, .seconds = 100},
                             {.reads = {3, 1}, .bytes = 90, .seconds = 70}},
                            0.1);
  EXPECT_EQ(best_choice(tape, 450, std::nullopt, 100'000).rung->seconds, 17);
}

TEST(Recompute, TheRungsOfChainsOfTwentyValuesAreTheBest) {
  for (unsigned seed = 0; seed < 2; ++seed) {
    const Tape tape = random_tape(seed, 20, true);
    const std::vector<Rung> rungs = ladder(tape);
    for (std::size_t i = 0; i < rungs.size(); i += 8) {
      const BestChoice best = best_choice(tape, rungs[i].peak, std::nullopt, 1'000'000);
      EXPECT_TRUE(best.is_best);
      EXPECT_LE(rungs[i].seconds, best.rung->seconds) << "seed " << seed << ", rung " << i;
    }
  }
}

TEST(Recompute, WithoutBackwardThereIsNothingToMakeAgain) {
  Tape tape = random_tape(0, 5, true);
  tape.ops.resize(5);
  tape.parts = {{.turn = 5, .end = 5}};
  EXPECT_EQ(ladder(tape).size(), 1U);
}

TEST(Recompute, ASearchOfAllChoicesThatIsStoppedSaysSo) {
  const Tape tape = random_tape(3, 7, false);
  const std::int64_t least = ladder(tape).back().peak;
  EXPECT_FALSE(best_choice(tape, least, std::nullopt, 20).is_best);
  EXPECT_TRUE(best_choice(tape, least, std::nullopt, 1'000'000).is_best);
  EXPECT_FALSE(best_choice(tape, 0, std::nullopt, 1'000'000).rung);
}

TEST(Recompute, NothingIsMadeAgainOfWhatHasChangedSince) {
  Tape tape = random_tape(1, 5, true);
  Choice choice = keep_all(tape);
  for (const std::vector<VarId>& alike : tape.candidates) choice[alike.front()] = RecomputePolicy::PerUse;
  ASSERT_TRUE(steps_of(tape, choice).has_value());
  for (TapeOp& op : tape.ops) op.until = tape.parts.front().turn - 1;
  EXPECT_FALSE(steps_of(tape, choice).has_value());
}

}  // namespace
}  // namespace lethe::testing
