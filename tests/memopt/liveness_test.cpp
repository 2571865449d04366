#include "memopt/liveness.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "framework/prepared.h"
#include "framework/text.h"
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
  EXPECT_EQ(live.steps(), 3);
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
  EXPECT_EQ(live.steps(), 9);
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

/// The classic equations on a straight line, by a worklist: live_in = read + (live_out - written).
std::vector<Life> by_data_flow(const Program& program) {
  const std::vector<Op>& ops = program.blocks[0].ops;
  std::vector<std::set<VarId>> in(ops.size()), out(ops.size());
  std::deque<std::size_t> work;
  for (std::size_t i = ops.size(); i > 0; --i) work.push_back(i - 1);
  while (!work.empty()) {
    const std::size_t i = work.front();
    work.pop_front();
    if (i + 1 < ops.size()) out[i] = in[i + 1];
    std::set<VarId> now = out[i];
    for (const VarId v : ops[i].out) now.erase(v);
    for (const VarId v : ops[i].in)
      if (v != kNone) now.insert(v);
    if (now == in[i]) continue;
    in[i] = now;
    if (i > 0) work.push_back(i - 1);
  }
  std::vector<Life> lives(program.vars.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto step = static_cast<Step>(i);
    for (const VarId v : ops[i].out) lives[v] = joined(lives[v], {step, step + 1});
    for (const VarId v : in[i]) lives[v] = joined(lives[v], {step, step + 1});
  }
  return lives;
}

TEST(Liveness, IsWhatTheDataFlowEquationsGive) {
  for (int seed = 0; seed < random_programs(); ++seed) {
    const Program program = with_updates(random_program(static_cast<std::uint64_t>(seed)), "adam").network.program;
    const Liveness live = liveness(program);
    const std::vector<Life> expected = by_data_flow(program);
    for (std::size_t v = 0; v < program.vars.size(); ++v) {
      if (is_persistable(program.vars[v].kind)) continue;
      Life given = expected[v];
      if (program.vars[v].kind == Kind::Input) given = joined({0, 0}, given);
      EXPECT_EQ(live.vars[v], given) << "seed " << seed << ", '" << program.vars[v].name << "'";
    }
  }
}

}  // namespace
}  // namespace lethe::testing
