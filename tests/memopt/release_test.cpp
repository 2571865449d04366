#include "memopt/passes/release.h"

#include <gtest/gtest.h>

#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "memopt/memopt.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

Planned released(const std::string& text, const std::string& memopt, const std::vector<std::string>& skip = {}) {
  Prepared prepared({});
  MemoptOptions options = parse_memopt(memopt);
  options.pins.skip_vars = skip;
  return plan_memory(parse_program(text), prepared, options);
}

std::vector<std::string> ops_of(const Program& program, BlockId block = 0) {
  std::vector<std::string> ops;
  for (const Op& op : program.blocks[block].ops)
    ops.push_back(op.type == kDeleteVar ? "delete " + program.vars[op.in[0]].name : program.vars[op.out[0]].name);
  return ops;
}

constexpr const char* kChain =
    "input x f32[64]\ntemp a f32[64]\ntemp b f32[64]\ntemp dead f32[64]\ntemp c f32[64]\n"
    "block 0 {\n  a = exp(x)\n  b = exp(a)\n  dead = exp(a)\n  c = exp(b)\n}\n";

TEST(Release, ABufferIsGivenBackAfterItsLastReader) {
  const Planned made = released(kChain, "none,release", {"c"});
  EXPECT_EQ(ops_of(made.program),
            (std::vector<std::string>{"a", "b", "dead", "delete a", "delete dead", "c", "delete b"}));
  verify(made.program);
}

TEST(Release, CountsWhatIsHeldAtOnce) {
  const Planned made = released(kChain, "none,release", {"c"});
  EXPECT_EQ(made.plan.bytes, (Bytes{.inputs = 256, .temps = 4 * 256})) << "a, b, dead at the third op, and c all along";
}

TEST(Release, OfAHandedOnBufferStandsAfterItsLastVar) {
  const Planned made = released(kChain, "level=0,release", {"c"});
  EXPECT_EQ(ops_of(made.program),
            (std::vector<std::string>{"a", "b", "dead", "delete a", "delete dead", "c", "delete b"}));
  const Planned in_place = released(
      "input x f32[64]\ntemp a f32[64]\ntemp b f32[64]\ntemp c f32[64]\ntemp d f32[64]\n"
      "block 0 {\n  a = exp(x)\n  b = exp(a)\n  c = exp(b)\n  d = exp(c)\n}\n",
      "none,release,inplace", {"d"});
  EXPECT_EQ(ops_of(in_place.program), (std::vector<std::string>{"a", "b", "c", "d", "delete c"}));
  EXPECT_EQ(in_place.plan.bytes.temps, 2 * 256);
}

TEST(Release, OfAViewedBufferStandsAfterTheLastView) {
  const Planned made = released(
      "input x f32[64]\ntemp a f32[64]\ntemp seen f32[8,8]\ntemp b f32[64]\ntemp c f32[8,8]\n"
      "block 0 {\n  a = exp(x)\n  seen = reshape(a) {shape=[8,8]}\n  b = exp(a)\n  c = exp(seen)\n}\n",
      "none,release", {"c", "b"});
  EXPECT_EQ(ops_of(made.program), (std::vector<std::string>{"a", "seen", "b", "c", "delete seen"}));
}

/// One op of control flow around a body that has two temps of its own; `outer` is read in it, `between` around it.
Program with_body() {
  Program program;
  for (const char* name : {"outer", "inner", "last", "after"}) add_var(program, {.name = name, .shape = {64}});
  program.vars[1].block = program.vars[2].block = 1;
  program.blocks.push_back({.parent = 0});
  program.blocks[0].ops = {{.type = "exp", .in = {}, .out = {0}},
                           {.type = "exp", .in = {0}, .out = {}, .blocks = {1}},
                           {.type = "exp", .in = {}, .out = {3}}};
  program.blocks[1].ops = {{.type = "exp", .in = {0}, .out = {1}}, {.type = "exp", .in = {1}, .out = {2}}};
  return program;
}

/// Releases under a hand-made assignment of vars to buffers.
Program release_with(const std::vector<int>& buffers, std::int64_t* on_demand = nullptr) {
  Program program = with_body();
  const Liveness live = liveness(program);
  const std::vector<Pin> pins(program.vars.size(), Pin::None);
  Plan plan;
  for (const int b : buffers) plan.vars.push_back({.buffer = b});
  plan.buffers.assign(static_cast<std::size_t>(*std::max_element(buffers.begin(), buffers.end())) + 1, {.bytes = 256});
  for (const Block& block : program.blocks) plan.workspaces.emplace_back(block.ops.size());
  const Sharing sharing = share_views(program, live, pins);
  Program released = release_memory(std::move(program), live, sharing, plan);
  if (on_demand) *on_demand = plan.on_demand;
  return released;
}

TEST(Release, InABodyStandsInTheBody) {
  const Program made = release_with({0, 1, 2, 3});
  const std::vector<Op>& body = made.blocks[1].ops;
  ASSERT_EQ(body.size(), 4U);
  EXPECT_EQ(body[2].type, kDeleteVar);
  EXPECT_EQ(body[3].type, kDeleteVar);
}

TEST(Release, OfWhatALoopReadsStandsAfterTheLoop) {
  const Program made = release_with({0, 1, 2, 3});
  EXPECT_EQ(made.blocks[0].ops[2].type, kDeleteVar);
  EXPECT_EQ(made.blocks[0].ops[2].in, (std::vector<VarId>{0}));
}

TEST(Release, OfABufferOfTwoBlocksStandsInTheOneAroundBoth) {
  std::int64_t on_demand = 0;
  const Program made = release_with({0, 1, 1, 1}, &on_demand);
  EXPECT_EQ(made.blocks[1].ops.size(), 2U);
  EXPECT_EQ(made.blocks[0].ops.back().type, kDeleteVar);
  EXPECT_EQ(on_demand, 512);
}

TEST(Release, NeverDeletesBeforeALaterUse) {
  for (const int seed : random_seeds())
    for (const char* memopt : {"none,release", "level=0,release,inplace", "level=1,release"}) {
      Prepared prepared({});
      const TrainingProgram random = random_program(static_cast<std::uint64_t>(seed));
      const Planned made = plan_memory(random.network.program, prepared, parse_memopt(memopt));
      std::vector<bool> gone(made.plan.buffers.size(), false);
      for (const Op& op : made.program.blocks[0].ops) {
        for (const VarId v : op.in)
          if (v != kNone && made.plan.vars[v].buffer >= 0) {
            ASSERT_FALSE(gone[made.plan.vars[v].buffer]) << made.program.vars[v].name;
          }
        if (op.type == kDeleteVar) gone[made.plan.vars[op.in[0]].buffer] = true;
        for (const VarId v : op.out)
          if (made.plan.vars[v].buffer >= 0) {
            ASSERT_FALSE(gone[made.plan.vars[v].buffer]) << "deleted too early: " << made.program.vars[v].name;
          }
      }
      for (std::size_t b = 0; b < gone.size(); ++b) EXPECT_EQ(gone[b], made.plan.buffers[b].on_demand);
    }
}

}  // namespace
}  // namespace lethe::testing
