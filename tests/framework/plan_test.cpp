#include "framework/run/plan.h"

#include <gtest/gtest.h>

#include "framework/language/text.h"
#include "framework/language/views.h"
#include "framework/run/prepared.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

TEST(PlanNone, ViewsShareThePlaceOfWhatTheyShow) {
  const Program program = parse_program(
      "input x f32[2,3]\nparam w f32[2,3]\ntemp y f32[2,3]\ntemp flat f32[6]\ntemp again f32[3,2]\ntemp weights "
      "f32[6]\n"
      "block 0 {\n"
      "  y = relu(x)\n"
      "  flat = reshape(y) {shape=[6]}\n"
      "  again = reshape(flat) {shape=[3,2]}\n"
      "  weights = reshape(w) {shape=[6]}\n"
      "}\n");
  EXPECT_EQ(view_root(program), (std::vector<VarId>{0, 1, 2, 2, 2, 1}));
  Prepared prepared({});
  const Plan plan = plan_none(program, workspaces_of(program, prepared));
  EXPECT_EQ(plan.vars[3], plan.vars[2]);
  EXPECT_EQ(plan.vars[4], plan.vars[2]);
  EXPECT_EQ(plan.vars[5].buffer, -1) << "a view of a Param is in the store";
  EXPECT_NE(plan.vars[0], plan.vars[2]);
  EXPECT_EQ(plan.bytes, (Bytes{.params = 24, .inputs = 24, .temps = 24}));
  EXPECT_EQ(plan.buffers, (std::vector<PlannedBuffer>{{.bytes = 24}, {.bytes = 24}}));
}

TEST(PlanNone, CountsEveryVarInItsCategoryOnce) {
  for (const int seed : random_seeds()) {
    const Program program = random_program(static_cast<std::uint64_t>(seed)).network.program;
    Prepared prepared({});
    const Plan plan = plan_none(program, workspaces_of(program, prepared));
    const std::vector<VarId> storage = view_root(program);
    Bytes expected;
    for (std::size_t v = 0; v < program.vars.size(); ++v) {
      if (storage[v] != static_cast<VarId>(v)) continue;
      const Var& var = program.vars[v];
      (var.kind == Kind::Param   ? expected.params
       : var.kind == Kind::State ? expected.states
       : var.kind == Kind::Input ? expected.inputs
                                 : expected.temps) += bytes_of(var);
    }
    for (const Op& op : program.blocks[0].ops)
      expected.workspace = std::max(expected.workspace, prepared.workspace_bytes(program, op));
    EXPECT_EQ(plan.bytes, expected) << "seed " << seed;
    std::int64_t in_buffers = 0;
    for (const PlannedBuffer& buffer : plan.buffers) in_buffers += buffer.bytes;
    EXPECT_EQ(in_buffers, expected.inputs + expected.temps + expected.workspace);
    for (std::size_t i = 0; i < program.blocks[0].ops.size(); ++i)
      EXPECT_EQ(plan.workspaces[0][i].buffer >= 0, prepared.workspace_bytes(program, program.blocks[0].ops[i]) > 0);
  }
}

TEST(PlanNone, NoTwoVarsOfTheirOwnShareABuffer) {
  const Program program = random_program(3).network.program;
  Prepared prepared({});
  const Plan plan = plan_none(program, workspaces_of(program, prepared));
  const std::vector<VarId> storage = view_root(program);
  std::vector<VarId> owner(plan.buffers.size(), kNone);
  for (std::size_t v = 0; v < program.vars.size(); ++v) {
    const int buffer = plan.vars[v].buffer;
    if (buffer < 0) continue;
    for (const Place workspace : plan.workspaces[0]) EXPECT_NE(buffer, workspace.buffer);
    VarId& known = owner[static_cast<std::size_t>(buffer)];
    EXPECT_TRUE(known == kNone || known == storage[v]) << program.vars[v].name;
    known = storage[v];
    EXPECT_EQ(plan.vars[v].offset, 0);
    EXPECT_GE(plan.buffers[static_cast<std::size_t>(buffer)].bytes, bytes_of(program.vars[v]));
  }
}

}  // namespace
}  // namespace lethe::testing
