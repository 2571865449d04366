#include "memopt/passes/stage_inputs.h"

#include <gtest/gtest.h>

#include "framework/language/text.h"
#include "memopt/analysis/check_plan.h"
#include "memopt/memopt.h"
#include "tests/memopt/same_result.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

Planned staged(const std::string& text) {
  Prepared prepared({});
  MemoptOptions options = parse_memopt("level=2");
  options.stage_inputs = true;
  return plan_memory(parse_program(text), prepared, options);
}

/// `vars`: more temps; `ops`: what stands in the block.
std::string program_of(const std::string& vars, const std::string& ops) {
  return "input x f32[64]\n" + vars + "block 0 {\n" + ops + "}\n";
}

TEST(StageInputs, BeginsWhereTheLastOfWhatIsInTheWayDies) {
  const Planned planned = staged(program_of("temp a f32[64]\ntemp b f32[64]\ntemp c f32[64]\ntemp d f32[64]\n",
                                            "a = exp(x)\nb = exp(x)\nc = mul(a, b)\nd = mul(c, x)\n"));
  EXPECT_EQ(planned.plan.buffers[0].bytes, 3 * 256) << "x, a and b";
  EXPECT_EQ(planned.plan.staging.op, 3) << "after c, which is in place of a or b";
  EXPECT_EQ(planned.plan.staging.inputs[0].buffer, 0);
  for (std::size_t v = 1; v < planned.plan.staging.inputs.size(); ++v)
    EXPECT_EQ(planned.plan.staging.inputs[v].buffer, -1) << "it is no input";
}

TEST(StageInputs, BeginsAtAnOpThatRunsSomething) {
  const Planned planned =
      staged(program_of("temp a f32[64]\ntemp b f32[64]\ntemp c f32[64]\ntemp d f32[8,8]\ntemp e f32[8,8]\n",
                        "a = exp(x)\nb = exp(x)\nc = mul(a, b)\nd = reshape(c) {shape=[8,8]}\ne = exp(d)\n"));
  EXPECT_EQ(planned.plan.staging.op, 4) << "idle from the reshape on, of which no kernel runs";
}

TEST(StageInputs, TakesNothingWhereTheArenaHasNoRoom) {
  const Planned planned = staged(program_of("temp a f32[64]\n", "a = exp(x)\n"));
  EXPECT_TRUE(planned.plan.staging.inputs.empty());
}

TEST(StageInputs, KeepsAPinnedValueOutOfTheWay) {
  Prepared prepared({});
  MemoptOptions options = parse_memopt("level=2");
  options.stage_inputs = true;
  const std::string text = program_of("temp a f32[64]\ntemp b f32[64]\ntemp c f32[64]\n",
                                      "a = exp(x)\nb = exp(x)\nc = mul(a, b)\nc2 = exp(c)\n");
  const std::string with_c2 = "temp c2 f32[64]\n" + text;
  options.pins.skip_vars = {"a", "b"};
  const Planned planned = plan_memory(parse_program(with_c2), prepared, options);
  EXPECT_TRUE(planned.plan.staging.inputs.empty()) << "a and b are there to the end, c2 is made from c";
}

TEST(StageInputs, CostsNoByteAndPassesTheCheckOnRandomPrograms) {
  int found = 0;
  for (const int seed : random_seeds()) {
    const Program program = with_updates(random_program(static_cast<std::uint64_t>(seed)), "adam").network.program;
    Prepared prepared({});
    MemoptOptions options = parse_memopt("level=2");
    options.seconds = 0.01;
    Plan plain = plan_memory(program, prepared, options).plan;
    options.stage_inputs = true;
    const Plan plan = plan_memory(program, prepared, options).plan;
    found += plan.staging.inputs.empty() ? 0 : 1;
    plain.staging = plan.staging;
    EXPECT_EQ(plan, plain);
  }
  EXPECT_GT(found, random_programs() / 2) << "of " << random_programs();
}

TEST(StageInputs, StagingOverSomethingThatLivesIsNamed) {
  Prepared prepared({});
  const Program program = parse_program(
      program_of("temp a f32[64]\ntemp b f32[64]\ntemp c f32[64]\n", "a = exp(x)\nb = exp(x)\nc = mul(a, b)\n"));
  const Workspaces workspaces = workspaces_of(program, prepared);
  const Liveness live = liveness(program);
  const std::vector<Pin> pins = collect_pins(program, {});
  Log log(false);
  const Sharing sharing = share_in_place(program, live, pins, log);
  Plan plan = plan_arena(program, live, sharing, workspaces, 0.01).plan;
  plan.staging = {.inputs = std::vector<Place>(program.vars.size()), .op = 2};
  plan.staging.inputs[0] = plan.vars[2];
  EXPECT_EQ(error_of([&] { check_plan(program, {}, plan, workspaces); }),
            "plan: 'mul' reads 'b' after 'the next input' was written over it");
}

}  // namespace
}  // namespace lethe::testing
