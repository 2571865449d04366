// The order in which least is alive: held against all orders of small programs, and against what it must not change.
#include "memopt/recompute/least_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "framework/builder/builder.h"
#include "memopt/analysis/check_order.h"
#include "memopt/plan.h"
#include "memopt/recompute/replay.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

Tape tape_in_any_order(const Program& program) {
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

/// Whether each op runs after those that make what it reads; each value is made once.
bool can_run(const Tape& tape, const std::vector<int>& order) {
  std::vector<int> maker(tape.values.size(), -1), at(order.size());
  for (int i = 0; i < static_cast<int>(order.size()); ++i) at[order[i]] = i;
  for (int i = 0; i < static_cast<int>(tape.ops.size()); ++i)
    for (const VarId v : tape.ops[i].call.out) maker[v] = i;
  return std::ranges::all_of(order, [&](int op) {
    return std::ranges::all_of(tape.ops[op].call.in, [&](VarId v) { return maker[v] < 0 || at[maker[v]] < at[op]; });
  });
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
    const Tape tape = tape_in_any_order(given);
    ASSERT_LE(tape.ops.size(), 9U);
    const Program made = least_order(given, tape);
    const Tape ordered = tape_in_any_order(made);
    const std::int64_t least = peak_in(ordered, as_it_stands(ordered));
    EXPECT_EQ(least, least_of_all_orders(tape));
    EXPECT_LT(least, peak_in(tape, as_it_stands(tape)));
  }
}

TEST(LeastOrder, KeepsWhatEachOpReadsAndTakesNoByteMore) {
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Program given = with_updates(random_program(seed), "momentum").network.program;
    const Tape tape = tape_in_any_order(given);
    const Program made = least_order(given, tape);
    check_order(given, made);
    const Tape ordered = tape_in_any_order(made);
    const std::int64_t before = peak_in(tape, as_it_stands(tape)), after = peak_in(ordered, as_it_stands(ordered));
    EXPECT_LE(after, before);
    EXPECT_TRUE(made == given || after < before);
    moved += made != given;
  }
  EXPECT_GT(moved, 0);
}

}  // namespace
}  // namespace lethe::testing
