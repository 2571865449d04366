// What is under way between ranks belongs to them until it is waited for: nothing is planned over it.
#include <gtest/gtest.h>

#include "framework/language/text.h"
#include "memopt/analysis/check_plan.h"
#include "memopt/memopt.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

/// What check_plan says where `a`, of 256 bytes, and `q` lie with `p`, of 512, which the first op puts under way.
std::string said_of_shared(const std::string& ops, const std::vector<std::string>& with_p) {
  const Program program = parse_program(
      "input x f32[64]\ntemp p f32[128]\ntemp q f32[128]\ntemp a f32[64]\n"
      "block 0 {\np = all_gather_start(x) {ranks=2}\n" +
      ops + "}\n");
  Prepared prepared{DeviceInfo{}};
  const Workspaces workspaces = workspaces_of(program, prepared);
  Plan plan = plan_none(program, workspaces);
  plan.kept.assign(program.vars.size(), false);
  for (const std::string& name : with_p) plan.vars[find_var(program, name)] = plan.vars[find_var(program, "p")];
  return error_of([&] { check_plan(program, {}, plan, workspaces); });
}

TEST(Exchanges, LieWhereNothingElseIsUntilTheyAreWaitedFor) {
  const std::string a = "a = exp(x)\n", wait = "q = all_gather_wait(p)\n";
  EXPECT_EQ(said_of_shared(a + wait, {"q"}), "(nothing)");
  EXPECT_EQ(said_of_shared(wait + a, {"a"}), "(nothing)");
  EXPECT_EQ(said_of_shared(a + wait, {"a"}), "plan: 'a' is written over 'p', which is under way");
  EXPECT_EQ(said_of_shared("q = relu(p)\n", {}), "plan: 'relu' reads 'p', which is under way");
}

TEST(Exchanges, AreWaitedForOnce) {
  EXPECT_EQ(said_of_shared("a = exp(x)\n", {}), "plan: 'p' is still under way at the end of the step");
  const std::string wait = "q = all_gather_wait(p)\n";
  EXPECT_EQ(said_of_shared(wait + "q = all_gather_wait(p)\n", {}),
            "plan: 'all_gather_wait' waits for 'p', which is not under way");
}

}  // namespace
}  // namespace lethe::testing
