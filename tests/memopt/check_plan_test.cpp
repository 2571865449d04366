#include "memopt/analysis/check_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "framework/language/text.h"
#include "framework/language/views.h"
#include "memopt/memopt.h"
#include "memopt/passes/views_for_copies.h"
#include "tests/memopt/all_pairs.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

/// A program of which nothing is kept, planned without sharing; tests spoil the plan.
struct Spoilt {
  explicit Spoilt(const std::string& text) : Spoilt(parse_program(text)) {}
  explicit Spoilt(Program made)
      : program(std::move(made)), workspaces(workspaces_of(program, prepared)), plan(plan_none(program, workspaces)) {
    plan.kept.assign(program.vars.size(), false);
  }
  std::string error(const PinOptions& wanted = {}) {
    return error_of([&] { check_plan(program, wanted, plan, workspaces); });
  }
  VarId var(const char* name) const { return find_var(program, name); }
  Place& place(const char* name) { return plan.vars[var(name)]; }

  Program program;
  Prepared prepared{DeviceInfo{}};
  Workspaces workspaces;
  Plan plan;
};

constexpr const char* kRight = "(nothing)";

/// Each of 256 bytes.
constexpr const char* kThree =
    "input x f32[64]\ntemp a f32[64]\ntemp b f32[64]\ntemp c f32[64]\n"
    "block 0 {\n  a = exp(x)\n  b = exp(a)\n  c = add(a, b)\n}\n";

TEST(CheckPlan, AcceptsARightPlan) { EXPECT_EQ(Spoilt(kThree).error(), kRight); }

TEST(CheckPlan, NamesWhoReadsWhatIsWrittenOver) {
  Spoilt s(
      "input x f32[64]\ntemp a f32[64]\ntemp b f32[64]\ntemp c f32[64]\n"
      "block 0 {\n  a = exp(x)\n  b = exp(x)\n  c = add(a, b)\n}\n");
  s.place("b") = s.place("a");
  EXPECT_EQ(s.error(), "plan: 'add' reads 'a' after 'b' was written over it");
}

TEST(CheckPlan, AcceptsTwoVarsInOnePlaceInTurn) {
  Spoilt s(
      "input x f32[64]\ntemp a f32[64]\ntemp b f32[64]\ntemp c f32[64]\n"
      "block 0 {\n  a = exp(x)\n  b = exp(a)\n  c = exp(b)\n}\n");
  s.place("c") = s.place("a");
  EXPECT_EQ(s.error(), kRight);
  EXPECT_EQ(s.error({.skip_vars = {"a"}}), "plan: 'c' is written over 'a', which is kept to the end of the step");
  s.plan.kept[s.var("a")] = true;
  EXPECT_EQ(s.error(), "plan: 'c' is written over 'a', which is kept to the end of the step");
}

TEST(CheckPlan, NamesAnInputThatTheNextStepWouldReadAgain) {
  Spoilt s(kThree);
  s.place("c") = s.place("x");
  EXPECT_EQ(s.error(), "plan: 'c' is written over 'x', which is kept to the end of the step");
}

TEST(CheckPlan, NamesAGradientThatIsToBeKept) {
  Spoilt s(
      "input x f32[64]\ninput lr f32[]\nparam w f32[64]\ntemp g f32[64]\ntemp a f32[64]\n"
      "block 0 {\n  g = exp(x)\n  w = sgd(w, g, lr) {decay=0.0}\n  a = exp(x)\n}\n");
  s.place("a") = s.place("g");
  EXPECT_EQ(s.error(), kRight);
  EXPECT_EQ(s.error({.skip_grads = true}), "plan: 'a' is written over 'g', which is kept to the end of the step");
}

TEST(CheckPlan, NamesAVarWithoutMemory) {
  Spoilt s(kThree);
  s.place("c") = {};
  EXPECT_EQ(s.error(), "plan: 'c' has no memory");
}

TEST(CheckPlan, NamesAVarThatLeavesItsBuffer) {
  Spoilt s(kThree);
  s.place("c").offset = 64;
  EXPECT_EQ(s.error(), "plan: 'c' ends at 320 of a buffer of 256 bytes");
}

TEST(CheckPlan, NamesAVarThatIsNotAligned) {
  Spoilt s(kThree);
  s.plan.buffers[static_cast<std::size_t>(s.place("c").buffer)].bytes += 768;
  s.plan.bytes.temps += 768;
  s.place("c").offset = 4;
  EXPECT_EQ(s.error(), "plan: 'c' lies at 4, which is not aligned to 64");
}

TEST(CheckPlan, NamesAViewThatLiesElsewhere) {
  Spoilt s(
      "input x f32[64]\ntemp a f32[64]\ntemp b f32[8,8]\nblock 0 {\n  a = exp(x)\n  b = reshape(a) {shape=[8,8]}\n}\n");
  EXPECT_EQ(s.error(), kRight);
  s.place("b") = s.place("x");
  EXPECT_EQ(s.error(), "plan: 'b' is a view of 'a' but lies elsewhere");
}

TEST(CheckPlan, NamesAnOpThatCannotWriteInPlace) {
  Spoilt transposed(
      "input x f32[8,8]\ntemp a f32[8,8]\ntemp b f32[8,8]\nblock 0 {\n  a = exp(x)\n  b = transpose(a) "
      "{perm=[1,0]}\n}\n");
  transposed.place("b") = transposed.place("a");
  EXPECT_EQ(transposed.error(), "plan: 'transpose' cannot write 'b' in place of 'a'");
  Spoilt twice("input x f32[64]\ntemp a f32[64]\ntemp b f32[64]\nblock 0 {\n  a = exp(x)\n  b = add(a, a)\n}\n");
  twice.place("b") = twice.place("a");
  EXPECT_EQ(twice.error(), "plan: 'add' cannot write 'b' in place of 'a'") << "which it reads twice";
}

TEST(CheckPlan, NamesTwoOutputsOfAnOpThatLieOverEachOther) {
  Spoilt s(
      "input x f32[1,2,2,4]\ntemp y f32[1,1,1,4]\ntemp i u8[1,1,1,4]\nblock 0 {\n"
      "  y, i = max_pool(x) {ceil_mode=0, k=[2,2], pad=[0,0], stride=[2,2]}\n}\n");
  ASSERT_EQ(s.error(), kRight);
  s.place("i") = s.place("y");
  EXPECT_EQ(s.error(), "plan: 'max_pool' writes 'i' over 'y', which it writes as well");
}

TEST(CheckPlan, NamesAWrongSumOfBytes) {
  Spoilt s(kThree);
  s.plan.bytes.temps += 4;
  EXPECT_EQ(s.error(), "plan: says 1028 bytes, but takes 1024");
}

TEST(CheckPlan, NamesMemoryThatIsReadWhenItHasBeenGivenBack) {
  Spoilt s(
      "input x f32[64]\ntemp a f32[64]\ntemp b f32[64]\ntemp c f32[64]\n"
      "block 0 {\n  a = exp(x)\n  b = exp(a)\n  delete_var(a)\n  c = add(a, b)\n}\n");
  s.plan.buffers[static_cast<std::size_t>(s.place("a").buffer)].on_demand = true;
  s.plan.on_demand = 256;
  EXPECT_EQ(s.error(), "plan: 'add' reads 'a', whose memory has been given back");
  std::swap(s.program.blocks[0].ops[2], s.program.blocks[0].ops[3]);
  EXPECT_EQ(s.error(), kRight);
  s.plan.on_demand = 128;
  EXPECT_EQ(s.error(), "plan: says that 128 bytes are held on demand, but takes 256");
}

TEST(CheckPlan, NamesMemoryOnDemandWhereTheExecutorHasNone) {
  Spoilt s(kThree);
  const auto on_demand = [&](const char* name) {
    s.plan.buffers[static_cast<std::size_t>(s.place(name).buffer)].on_demand = true;
  };
  on_demand("c");
  s.plan.on_demand = 256;
  EXPECT_EQ(s.error(), "plan: buffer 3 is still held at the end of the step");
  on_demand("x");
  EXPECT_EQ(s.error(), "plan: the input 'x' lies in memory on demand");
}

TEST(CheckPlan, NamesWhatIsFetchedAndNotSaidToBeKept) {
  Spoilt s(kThree);
  EXPECT_EQ(s.error({.fetched = {s.var("c")}}), "plan: 'c' is fetched, but the plan does not say that it keeps it");
}

TEST(CheckPlan, NamesStagingThatTheExecutorCannotDo) {
  Spoilt s(kThree);
  s.plan.staging = {.inputs = std::vector<Place>(s.program.vars.size()), .op = 3};
  EXPECT_EQ(s.error(), "plan: inputs are staged from op 3, which is no call");
  s.plan.staging.op = 2;
  s.plan.staging.inputs[s.var("x")] = s.place("a");
  EXPECT_EQ(s.error(), "plan: 'add' reads 'a' after 'the next input' was written over it");
  s.plan.buffers.push_back({.bytes = 256});
  s.plan.bytes.temps += 256;
  s.plan.staging.inputs[s.var("x")] = {.buffer = static_cast<int>(s.plan.buffers.size()) - 1};
  EXPECT_EQ(s.error(), kRight);
  s.place("c") = s.plan.staging.inputs[s.var("x")];
  EXPECT_EQ(s.error(), "plan: 'c' is written over the next input");
}

TEST(CheckPlan, NamesAPlanOfAnotherProgram) {
  Spoilt s(kThree);
  s.plan.vars.pop_back();
  EXPECT_EQ(s.error(), "plan: is of another program");
}

/// What one side of a branch overwrites is lost after it, whichever side is taken.
TEST(CheckPlan, LooksAtBothSidesOfABranch) {
  for (const bool in_else : {false, true}) {
    const std::string a = in_else ? "exp(x)" : "exp(y)", b = in_else ? "exp(y)" : "exp(x)";
    Spoilt s(
        "input x f32[64]\ninput test u8[]\ntemp y f32[64]\ntemp r f32[64]\ntemp z f32[64]\n"
        "temp p f32[64] block 1\ntemp q f32[64] block 2\nblock 0 {\n  y = exp(x)\n"
        "  r = if(test, x, y) block 1 block 2\n  z = add(r, y)\n}\n"
        "block 1 parent 0 results (p) {\n  p = " +
        a + "\n}\nblock 2 parent 0 results (q) {\n  q = " + b + "\n}\n");
    EXPECT_EQ(s.error(), kRight);
    const char* const other = in_else ? "p" : "q";
    s.place(other) = s.place("y");
    EXPECT_EQ(s.error(), "plan: 'add' reads 'y' after '" + std::string(other) + "' was written over it");
  }
}

/// Of f64, whose products state workspaces of their own.
TEST(CheckPlan, NamesAParamInABufferAndAWorkspaceWithoutAPlaceOrOverAnOutput) {
  Spoilt s(random_program(1, DType::f64).network.program);
  ASSERT_EQ(s.error(), kRight);
  const auto param = std::find_if(s.program.vars.begin(), s.program.vars.end(),
                                  [](const Var& var) { return var.kind == Kind::Param; });
  Place& of_param = s.place(param->name.c_str());
  of_param = {.buffer = 0};
  EXPECT_EQ(s.error(), "plan: '" + param->name + "' lives in the store, but has a place in a buffer");
  of_param = {};
  const auto needed = std::find_if(s.plan.workspaces[0].begin(), s.plan.workspaces[0].end(),
                                   [](const Place& place) { return place.buffer >= 0; });
  ASSERT_NE(needed, s.plan.workspaces[0].end()) << "no op has a workspace";
  const Op& op = s.program.blocks[0].ops[static_cast<std::size_t>(needed - s.plan.workspaces[0].begin())];
  *needed = {};
  EXPECT_EQ(s.error(), "plan: the workspace of '" + op.type + "' has no memory");
  *needed = s.plan.vars[op.out[0]];
  s.plan.buffers[static_cast<std::size_t>(needed->buffer)].bytes += 1 << 20;
  s.plan.bytes.temps += 1 << 20;
  EXPECT_EQ(s.error(), "plan: the workspace of '" + op.type + "' lies over '" + s.program.vars[op.out[0]].name +
                           "', which it uses");
}

/// Every other one with all the views that there can be.
Program random_with_views(int seed) {
  Program program = random_program(static_cast<std::uint64_t>(seed)).network.program;
  if (seed % 2 == 0) return program;
  const auto nothing = [](const Program&) { return std::int64_t{0}; };
  return views_for_copies(program, collect_pins(program, {}), DeviceInfo{}.alignment, nothing).value_or(program);
}

TEST(CheckPlan, FindsWhatComparingAllPairsFinds) {
  int wrong = 0;
  for (const int seed : random_seeds()) {
    Spoilt s(random_with_views(seed));
    const std::vector<View> views = views_of(s.program);
    const std::int64_t room = 1 << 20;
    s.plan.bytes.temps += room - s.plan.buffers[0].bytes;
    s.plan.buffers[0].bytes = room;
    std::mt19937 random(static_cast<unsigned>(seed));
    EXPECT_EQ(s.error(), kRight);
    for (int left = seed % 5; left > 0; --left) {  // values at random places of the first buffer
      const VarId moved = views[random() % views.size()].root;
      if (s.program.vars[moved].kind != Kind::Temp) continue;
      const Place place{.buffer = 0, .offset = 64 * static_cast<std::int64_t>(random() % 16)};
      for (std::size_t v = 0; v < views.size(); ++v)
        if (views[v].root == moved) s.plan.vars[v] = {place.buffer, place.offset + views[v].offset};
    }
    const bool expected = all_pairs_find_fault(s.program, s.plan);
    wrong += expected;
    EXPECT_EQ(s.error() != kRight, expected) << "seed " << seed << ": " << s.error() << '\n' << to_text(s.program);
  }
  EXPECT_GT(wrong, 0) << "no plan was wrong, so nothing was tested";
  EXPECT_LT(wrong, random_programs());
}

/// Carries h; the body makes `y` of it first and reads it again where `reads_on`.
Program loop_program(bool reads_on) {
  return parse_program(std::string("input x f32[64]\ntemp zero i64[]\ntemp trip i64[]\ntemp h f32[64]\n"
                                   "temp test u8[] block 1\ntemp more i64[] block 2\ntemp y f32[64] block 2\n"
                                   "temp z f32[64] block 2\nblock 0 {\n"
                                   "zero = fill_constant() {dtype=\"i64\", shape=[], value=0}\n"
                                   "trip, h = while(zero, x) {max_trips=3} block 1 block 2\n}\n"
                                   "block 1 parent 0 results (test) {\ntest = less(trip) {value=2}\n}\n"
                                   "block 2 parent 0 results (more, y) {\nmore = offset(trip) {by=1}\n"
                                   "y = exp(h)\n") +
                       (reads_on ? "z = exp(h)\n}\n" : "z = exp(y)\n}\n"));
}

TEST(CheckPlan, NamesAResultMadeOverWhatTheTripReadsAgain) {
  Spoilt s(loop_program(true));
  s.place("y") = s.place("h");
  EXPECT_EQ(s.error(), "plan: 'exp' reads 'h' after 'y' was written over it");
  Spoilt right(loop_program(false));
  right.place("y") = right.place("h");
  EXPECT_EQ(right.error(), kRight);
}

TEST(Sharing, KeepsWhatALoopCarriesTwiceOnlyIfTheTripReadsItAgain) {
  for (const bool reads_on : {false, true}) {
    const Program program = loop_program(reads_on);
    const Liveness live = liveness(program);
    Log log(false);
    const Sharing sharing = share_in_place(program, live, collect_pins(program, {}), log);
    EXPECT_EQ(sharing.of[find_var(program, "y")] == sharing.of[find_var(program, "h")], !reads_on);
    EXPECT_EQ(sharing.of[find_var(program, "more")], sharing.of[find_var(program, "zero")]) << "the count of trips";
  }
}

}  // namespace
}  // namespace lethe::testing
