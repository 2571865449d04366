// The order in which least is alive: held against all orders of small programs, and against what it must not change.
#include "memopt/recompute/least_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "framework/builder/builder.h"
#include "memopt/analysis/check_order.h"
#include "memopt/memopt.h"
#include "memopt/plan.h"
#include "memopt/recompute/order_search.h"
#include "memopt/recompute/replay.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

Tape tape_of_level2(const Program& program) {
  Prepared prepared{DeviceInfo{}};
  const MemoptOptions options = suited(parse_memopt("level=2"), prepared.device());
  return MemoryStage(prepared, options).tape_for(program);
}

std::int64_t peak_in(const Tape& tape, const std::vector<int>& order) {
  std::vector<Step> steps;
  for (const int op : order) steps.push_back({.op = op});
  return course_of(tape, steps).peak;
}

std::vector<int> as_it_stands(const Tape& tape) {
  std::vector<int> order(tape.ops.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Whether one of two ops writes what the other reads or writes.
bool meet(const TapeCall& a, const TapeCall& b) {
  const auto have_common = [](const std::vector<VarId>& some, const std::vector<VarId>& others) {
    return std::ranges::any_of(some, [&](VarId v) { return std::ranges::count(others, v) > 0; });
  };
  return have_common(a.out, b.in) || have_common(a.out, b.out) || have_common(a.in, b.out);
}

/// Whether ops that meet run in the order in which they stand.
bool can_run(const Tape& tape, const std::vector<int>& order) {
  for (std::size_t a = 0; a < order.size(); ++a)
    for (std::size_t b = a + 1; b < order.size(); ++b)
      if (order[b] < order[a] && meet(tape.ops[order[b]].call, tape.ops[order[a]].call)) return false;
  return true;
}

std::int64_t least_of_all_orders(const Tape& tape) {
  std::vector<int> order = as_it_stands(tape);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  do {
    if (can_run(tape, order)) least = std::min(least, peak_in(tape, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

/// Branches that are wide in the middle, each of which could end before the next begins.
Program branches(const std::vector<std::int64_t>& widths) {
  Builder net({.batch = 8});
  const VarId x = net.input("x", {16});
  std::vector<VarId> wide;
  for (const std::int64_t width : widths) wide.push_back(net.layer("fc", x, {{"out", width}, {"bias", false}}));
  VarId sum = kNone;
  for (const VarId v : wide) {
    const VarId narrow = net.layer("fc", v, {{"out", 4}, {"bias", false}});
    sum = sum == kNone ? narrow : net.layer("add", {sum, narrow});
  }
  return net.finish().program;
}

TEST(LeastOrder, IsTheBestOfAllOrdersOfASmallProgram) {
  for (const std::vector<std::int64_t>& widths :
       std::vector<std::vector<std::int64_t>>{{512, 384, 640}, {64, 512, 512}, {256, 32, 128}}) {
    const Program given = branches(widths);
    const Tape tape = tape_of_level2(given);
    ASSERT_LE(tape.ops.size(), 9U);
    const LeastOrder made = least_order(given, tape, 100'000);
    const Tape ordered = tape_of_level2(*made.program);
    const std::int64_t least = peak_in(ordered, as_it_stands(ordered));
    EXPECT_EQ(least, least_of_all_orders(tape));
    EXPECT_EQ(made.at_least, least);
    EXPECT_LT(least, peak_in(tape, as_it_stands(tape)));
  }
}

TEST(LeastOrder, KeepsWhatEachOpReadsAndTakesNoByteMore) {
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Program given = with_updates(random_program(seed), "momentum").network.program;
    const Tape tape = tape_of_level2(given);
    const Program made = least_order(given, tape, 100'000).program.value_or(given);
    check_order(given, made);
    const Tape ordered = tape_of_level2(made);
    const std::int64_t before = peak_in(tape, as_it_stands(tape)), after = peak_in(ordered, as_it_stands(ordered));
    EXPECT_LE(after, before);
    EXPECT_TRUE(made == given || after < before);
    moved += made != given;
  }
  EXPECT_GT(moved, 0);
}

/// Six ops that read some of what was made before. Some make two values, change one or one that was there before, need
/// a workspace, or may write over their operands.
Tape small_tape(std::uint64_t seed) {
  constexpr int kOps = 6, kBefore = 2;
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t end) { return static_cast<int>(random() % end); };
  Tape tape;
  tape.parts = {{0, kOps, kOps}};
  const auto add_value = [&](TapeValue value) {
    tape.root.push_back(static_cast<VarId>(tape.values.size()));
    tape.values.push_back(value);
    return tape.root.back();
  };
  add_value({.bytes = 0});
  add_value({.bytes = 300, .given = true});
  for (int i = 0; i < kOps; ++i) {
    TapeOp op{.until = kOps};
    for (int n = below(3); n > 0; --n)
      if (const VarId v = below(tape.values.size()); std::ranges::count(op.call.in, v) == 0) op.call.in.push_back(v);
    for (int n = below(4) == 0 ? 2 : 1; n > 0; --n)
      op.call.out.push_back(add_value({.bytes = 100 * (below(5) == 0 ? 9 : 1 + below(3)), .lasts = below(6) == 0}));
    for (std::size_t n = 0; n < op.call.in.size(); ++n)
      if (below(2) == 0) op.call.in_place.emplace_back(op.call.in[n], op.call.out[n % op.call.out.size()]);
    if (below(6) == 0) op.call.out.push_back(op.call.in.empty() ? below(kBefore) : op.call.in.back());
    op.call.workspace = below(3) == 0 ? 100 * below(5) : 0;
    tape.ops.push_back(op);
  }
  return tape;
}

void expect_the_best_order(const Tape& tape) {
  const std::int64_t least = least_of_all_orders(tape);
  OrderSearch search(tape, 100'000);
  EXPECT_FALSE(search.within(least - 1));
  const std::optional<OrderSearch::Found> found = search.within(least);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->peak, least);
  EXPECT_EQ(peak_in(tape, found->ops), least);
  EXPECT_FALSE(search.gave_up());
}

TEST(OrderSearch, FindsTheBestOfAllOrdersAndKnowsIt) {
  for (const int seed : random_seeds(10 * random_programs())) {
    SCOPED_TRACE(seed);
    expect_the_best_order(small_tape(static_cast<std::uint64_t>(seed)));
  }
}

Tape tape_with(const std::vector<TapeValue>& values, const std::vector<TapeCall>& calls) {
  const int ops = static_cast<int>(calls.size());
  Tape tape;
  tape.values = values;
  tape.parts = {{0, ops, ops}};
  tape.root.resize(values.size());
  std::iota(tape.root.begin(), tape.root.end(), 0);
  for (const TapeCall& call : calls) tape.ops.push_back({.call = call, .until = ops});
  return tape;
}

/// The op that waits, which writes over its operand, leaves as much as there was; the one that needs it does not.
TEST(OrderSearch, TakesNoOpForFreeBecauseOfOneThatWaitsForIt) {
  const Tape tape = tape_with(
      {{.bytes = 100}, {.bytes = 10}, {.bytes = 100}, {.bytes = 1000}, {.bytes = 200}, {.bytes = 10}, {.bytes = 10}},
      {{.out = {0, 1}, .workspace = 50},
       {.in = {0}, .out = {2}, .in_place = {{0, 2}}},
       {.in = {2}, .out = {3}},
       {.in = {1}, .out = {4}, .workspace = 500},
       {.in = {4}, .out = {5}},
       {.in = {3, 5}, .out = {6}}});
  EXPECT_EQ(least_of_all_orders(tape), 1110);
  expect_the_best_order(tape);
}

/// A parameter, which has no bytes here, is written after it was read.
TEST(OrderSearch, LetsNoOpWaitForOneThatHasNoRoomForIt) {
  const Tape tape = tape_with(
      {{.bytes = 0}, {.bytes = 100}, {.bytes = 10}, {.bytes = 100}, {.bytes = 500}, {.bytes = 200, .lasts = true}},
      {{.out = {1, 2}, .workspace = 50},
       {.in = {1, 0}, .out = {3}},
       {.in = {2}, .out = {4}, .workspace = 5},
       {.in = {4, 0}, .out = {0}},
       {.in = {3}, .out = {5}}});
  EXPECT_EQ(least_of_all_orders(tape), 615);
  expect_the_best_order(tape);
}

TEST(OrderSearch, LetsNoOpWaitThatFreesMoreThanItMakes) {
  const Tape tape =
      tape_with({{.bytes = 300}, {.bytes = 10}, {.bytes = 100}, {.bytes = 500}, {.bytes = 400, .lasts = true}},
                {{.out = {0, 1}, .workspace = 50},
                 {.in = {0}, .out = {2}},
                 {.in = {1}, .out = {3}, .workspace = 5},
                 {.in = {2}, .out = {4}}});
  EXPECT_EQ(least_of_all_orders(tape), 615);
  expect_the_best_order(tape);
}

/// Ops 1, 2 and 3 leave less than there was, 2 and 3 without 1 still less; then there is room for op 4.
TEST(OrderSearch, RunsNoRowAtOnceOfWhichAPartLeavesLess) {
  const Tape tape = tape_with({{.bytes = 100},
                               {.bytes = 200},
                               {.bytes = 10},
                               {.bytes = 200},
                               {.bytes = 100},
                               {.bytes = 10},
                               {.bytes = 10},
                               {.bytes = 10}},
                              {{.out = {0, 1, 2}, .workspace = 200},
                               {.in = {0}, .out = {3}},
                               {.in = {0}, .out = {4}},
                               {.in = {4, 1}, .out = {5}},
                               {.in = {2}, .out = {6}, .workspace = 500},
                               {.in = {3, 5, 6}, .out = {7}}});
  EXPECT_EQ(least_of_all_orders(tape), 630);
  expect_the_best_order(tape);
}

TEST(OrderSearch, DoesNotPutWhatLastsInPlaceOfAnything) {
  const Tape tape =
      tape_with({{.bytes = 100}, {.bytes = 10}, {.bytes = 100, .lasts = true}, {.bytes = 500}, {.bytes = 10}},
                {{.out = {0, 1}, .workspace = 50},
                 {.in = {0}, .out = {2}, .in_place = {{0, 2}}},
                 {.in = {1}, .out = {3}, .workspace = 5},
                 {.in = {2, 3}, .out = {4}}});
  EXPECT_EQ(least_of_all_orders(tape), 615);
  expect_the_best_order(tape);
}

/// Ops that write parts of one value run in their order.
TEST(LeastOrder, IsNotKnownOfPartsOfAValue) {
  const Program given = branches({64, 32});
  const Tape tape = tape_of_level2(given);
  EXPECT_GT(least_order(given, tape, 100'000).at_least, 0);
  Tape parts = tape;
  std::vector<VarId> made;
  for (const TapeOp& op : tape.ops) made.push_back(op.call.out.front());
  parts.root[made[1]] = parts.root[made[0]];
  EXPECT_EQ(least_order(given, parts, 100'000).at_least, 0);
}

TEST(LeastOrder, IsKnownOfMostSmallPlans) {
  int any = 0, plans = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed, ++plans) {
    Prepared prepared{DeviceInfo{}};
    const Program program = with_updates(random_program(seed), "momentum").network.program;
    const Planned made = plan_memory(program, prepared, suited(parse_memopt("level=2"), prepared.device()));
    EXPECT_TRUE(made.arena->certified || !made.arena->any_order);
    any += made.arena->any_order;
  }
  EXPECT_GT(any, plans / 2);
}

}  // namespace
}  // namespace lethe::testing
