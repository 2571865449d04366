#include "memopt/analysis/liveness.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "framework/language/control_flow.h"
#include "framework/language/text.h"
#include "framework/run/prepared.h"
#include "tests/support/random_control.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

Life life(const Program& program, const std::string& name) { return liveness(program).vars[find_var(program, name)]; }

Program chain() {
  return parse_program(
      "input x f32[2]\nparam w f32[2]\ntemp a f32[2]\ntemp b f32[2]\ntemp dead f32[2]\ntemp unused f32[2]\n"
      "block 0 {\n  a = relu(x)\n  dead = add(a, w)\n  b = add(x, a)\n}\n");
}

TEST(Liveness, AValueLivesFromItsOpToItsLastReader) { EXPECT_EQ(life(chain(), "a"), (Life{0, 3})); }

TEST(Liveness, AnInputLivesFromTheFirstStep) { EXPECT_EQ(life(chain(), "x"), (Life{0, 3})); }

TEST(Liveness, AParameterLivesForever) { EXPECT_EQ(life(chain(), "w"), (Life{0, kForever})); }

TEST(Liveness, AResultThatNobodyReadsLivesForItsStep) {
  EXPECT_EQ(life(chain(), "dead"), (Life{1, 2}));
  EXPECT_EQ(life(chain(), "b"), (Life{2, 3}));
}

TEST(Liveness, AVarThatNoOpNamesIsEmpty) { EXPECT_TRUE(life(chain(), "unused").is_empty()); }

TEST(Liveness, ADeleteIsNoUse) {
  Program program = chain();
  program.blocks[0].ops.push_back({.type = kDeleteVar, .in = {find_var(program, "a")}});
  EXPECT_EQ(life(program, "a"), (Life{0, 3}));
}

TEST(Liveness, ADeleteHasNoStep) {
  Program program = chain();
  std::vector<Op>& ops = program.blocks[0].ops;
  ops.insert(ops.begin() + 1, {.type = kDeleteVar, .in = {find_var(program, "unused")}});
  const Liveness live = liveness(program);
  EXPECT_EQ(live.ticks(), 3);
  EXPECT_EQ(live.ops[0][1].last, live.ops[0][1].first - 1);
  EXPECT_EQ(live.ops[0][2].first, 1);
  EXPECT_EQ(live.at[1], (std::pair<BlockId, int>(0, 2)));
  EXPECT_EQ(live.vars, liveness(chain()).vars);
}

/// outer; loop, carried from outer { t = relu(outer); u = relu(t); loop { v = relu(u) } carries u on }; after
Program nested() {
  Program program;
  for (const char* name : {"outer", "t", "u", "v", "after", "carried"}) add_var(program, {.name = name, .shape = {2}});
  program.blocks.resize(3);
  program.blocks[1].parent = 0;
  program.blocks[2].parent = 1;
  program.blocks[1].results = {2};
  program.vars[1].block = program.vars[2].block = 1;
  program.vars[3].block = 2;
  program.blocks[0].ops = {{.type = "fill_constant", .out = {0}},
                           {.type = "while", .in = {0, 0}, .out = {5}, .blocks = {1}},
                           {.type = "relu", .in = {0}, .out = {4}}};
  program.blocks[1].ops = {{.type = "relu", .in = {0}, .out = {1}},
                           {.type = "relu", .in = {1}, .out = {2}},
                           {.type = "while", .in = {2}, .out = {}, .blocks = {2}}};
  program.blocks[2].ops = {{.type = "relu", .in = {2}, .out = {3}}};
  return program;
}

TEST(Liveness, AnOpSpansTheStepsOfItsBlocks) {
  const Liveness live = liveness(nested());
  EXPECT_EQ(live.ticks(), 9);
  EXPECT_EQ(live.ops[0][1].first, 1);
  EXPECT_EQ(live.ops[0][1].last, 7);
  EXPECT_EQ(live.ops[1][2].first, 4);
  EXPECT_EQ(live.ops[1][2].last, 6);
}

TEST(Liveness, LoopInputLivesThroughWholeLoop) {
  Program program = nested();
  program.blocks[0].ops.pop_back();
  EXPECT_EQ(life(program, "outer"), (Life{0, 8})) << "read first in the body, but needed in the next trip";
  program.blocks[1].results = {};
  EXPECT_EQ(life(program, "u"), (Life{3, 7})) << "an inner loop's input";
}

TEST(Liveness, AnInitialValueIsReadWhenTheLoopBegins) {
  Program program = nested();
  program.blocks[0].ops.pop_back();
  program.blocks[0].ops[1].in = {0};
  program.blocks[1].ops[0].in = {5};
  EXPECT_EQ(life(program, "outer"), (Life{0, 2}));
}

TEST(Liveness, AResultIsTakenAtTheEndOfItsBlock) { EXPECT_EQ(life(nested(), "u"), (Life{3, 8})); }

TEST(Liveness, ATempOfABodyLivesWithinATrip) {
  EXPECT_EQ(life(nested(), "t"), (Life{2, 4}));
  EXPECT_EQ(life(nested(), "v"), (Life{5, 6}));
}

TEST(Liveness, WhatIsCarriedFromTripToTripLivesThroughTheLoop) { EXPECT_EQ(life(nested(), "carried"), (Life{1, 8})); }

/// What happens in a step, and which steps may follow.
struct FlowNode {
  std::vector<VarId> reads, writes;
  std::vector<Tick> next;
};

/// The steps of a program as a flow graph; after the last one stands an empty node.
class Flow {
 public:
  Flow(const Program& program, const Liveness& live) : nodes(live.at.size() + 1), program_(program) {
    for (Tick s = 0; s < live.ticks(); ++s) steps_[live.at[s]].push_back(s);
    lay(0, live.ticks());
  }
  std::vector<FlowNode> nodes;  // by step

 private:
  using Vars = std::vector<VarId>;

  Tick entry(BlockId block, Tick end) const {
    return program_.blocks[block].ops.empty() ? end : steps_.at({block, 0})[0];
  }

  void lay(BlockId block, Tick end) {
    const std::vector<Op>& ops = program_.blocks[block].ops;
    for (int i = 0; i < std::ssize(ops); ++i)
      lay(ops[i], steps_.at({block, i}), i + 1 < std::ssize(ops) ? steps_.at({block, i + 1})[0] : end);
  }

  void lay(const Op& op, const std::vector<Tick>& at, Tick after) {
    const auto carried = static_cast<std::ptrdiff_t>(loop_carried(program_, op));
    const Vars made(op.out.begin(), op.out.begin() + carried);
    const auto results = [&](int side) { return program_.blocks[op.blocks[side]].results; };
    const auto begin = [&](int side) { return entry(op.blocks[side], at[side + 1]); };
    if (op.type == kWhile) {
      nodes[at[0]] = {Vars(op.in.begin(), op.in.begin() + carried), made, {begin(0)}};
      nodes[at[1]] = {results(0), {}, {begin(1), after}};
      nodes[at[2]] = {results(1), made, {begin(0)}};
    } else if (op.type == kIf) {
      nodes[at[0]] = {{op.in[0]}, {}, {begin(0), begin(1)}};
      for (int side = 0; side < 2; ++side) nodes[at[side + 1]] = {results(side), made, {after}};
    } else {
      nodes[at[0]] = {op.in, op.out, {after}};
    }
    for (std::size_t side = 0; side < op.blocks.size(); ++side) lay(op.blocks[side], at[side + 1]);
  }

  const Program& program_;
  std::map<std::pair<BlockId, int>, std::vector<Tick>> steps_;
};

/// The classic equations by a worklist: live before a step is what it reads, and what lives after it unless it writes
/// it. Gives the first and the last step of each var. What lives before all steps of its block is read on some way on
/// which it is not written; no run takes that way, since two branches on one condition go the same one: such a var
/// lives from where it is written to where it is read.
std::vector<Life> by_data_flow(const Program& program, const Liveness& live) {
  const Flow flow(program, live);
  std::vector<std::set<VarId>> in(flow.nodes.size());
  std::vector<std::vector<Tick>> before(flow.nodes.size());
  std::deque<Tick> work;
  for (Tick s = live.ticks() - 1; s >= 0; --s) {
    for (const Tick next : flow.nodes[s].next) before[next].push_back(s);
    work.push_back(s);
  }
  while (!work.empty()) {
    const Tick s = work.front();
    work.pop_front();
    std::set<VarId> now;
    for (const Tick next : flow.nodes[s].next) now.insert(in[next].begin(), in[next].end());
    for (const VarId v : flow.nodes[s].writes) now.erase(v);
    for (const VarId v : flow.nodes[s].reads)
      if (v != kNone) now.insert(v);
    if (now == in[s]) continue;
    in[s] = std::move(now);
    work.insert(work.end(), before[s].begin(), before[s].end());
  }
  std::vector<Tick> entry(program.blocks.size(), live.ticks());
  for (Tick s = live.ticks() - 1; s >= 0; --s) entry[live.at[s].first] = s;
  std::vector<Life> lives(program.vars.size());
  const auto lives_in = [&](VarId v, Tick s) {
    if (v != kNone) lives[v] = hull(lives[v], {s, s + 1});
  };
  for (Tick s = 0; s < live.ticks(); ++s) {
    for (const VarId v : flow.nodes[s].writes) lives_in(v, s);
    for (const VarId v : flow.nodes[s].reads) lives_in(v, s);
    for (const VarId v : in[s]) {
      const Var& var = program.vars[v];
      if (var.kind == Kind::Input || in[entry[var.block]].count(v) == 0) lives_in(v, s);
    }
  }
  return lives;
}

/// What an op with blocks lists lives through all of it, whether each block touches it or not; but for a loop's initial
/// values.
std::set<VarId> listed(const Program& program) {
  std::set<VarId> all;
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) {
      if (op.blocks.empty()) continue;
      const std::size_t initial = op.type == kWhile ? loop_carried(program, op) : 0;
      all.insert(op.in.begin() + static_cast<std::ptrdiff_t>(initial), op.in.end());
      all.insert(op.out.begin(), op.out.end());
    }
  return all;
}

void expect_what_data_flow_gives(const Program& program) {
  const Liveness live = liveness(program);
  const std::vector<Life> expected = by_data_flow(program, live);
  const std::set<VarId> spanned = listed(program);
  for (std::size_t v = 0; v < program.vars.size(); ++v) {
    if (is_persistable(program.vars[v].kind)) continue;
    const Life given = program.vars[v].kind == Kind::Input ? hull({0, 0}, expected[v]) : expected[v];
    const bool is_spanned = spanned.count(static_cast<VarId>(v)) != 0;  // then at least
    EXPECT_EQ(live.vars[v], is_spanned ? hull(live.vars[v], given) : given) << program.vars[v].name;
  }
}

TEST(Liveness, IsWhatTheDataFlowEquationsGive) {
  for (const int seed : random_seeds()) {
    SCOPED_TRACE(seed);
    expect_what_data_flow_gives(with_updates(random_program(static_cast<std::uint64_t>(seed)), "adam").network.program);
  }
}

TEST(Liveness, IsWhatTheDataFlowEquationsGiveAroundLoopsAndBranches) {
  for (const int seed : random_seeds()) {
    SCOPED_TRACE(seed);
    expect_what_data_flow_gives(
        with_updates(random_control_program(static_cast<std::uint64_t>(seed)), "adam").network.program);
  }
}

}  // namespace
}  // namespace lethe::testing
