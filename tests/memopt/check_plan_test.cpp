#include "memopt/analysis/check_plan.h"

#include <gtest/gtest.h>

#include <random>

#include "framework/text.h"
#include "memopt/memopt.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

/// a = exp(x); b = exp(a); c = add(a, b), each of 256 bytes, planned without sharing; tests spoil it.
struct Spoilt {
  Spoilt()
      : program(parse_program("input x f32[64]\ntemp a f32[64]\ntemp b f32[64]\ntemp c f32[64]\n"
                              "block 0 {\n  a = exp(x)\n  b = exp(a)\n  c = add(a, b)\n}\n")),
        workspaces(workspaces_of(program, prepared)),
        live(liveness(program)),
        pins(collect_pins(program, {})),
        sharing(share_views(program, live, pins)),
        plan(plan_none(program, workspaces)) {}
  void check() { check_plan(program, live, pins, sharing, plan, workspaces); }
  Place& place(const char* name) { return plan.vars[find_var(program, name)]; }
  Program program;
  Prepared prepared{DeviceInfo{}};
  Workspaces workspaces;
  Liveness live;
  std::vector<Pin> pins;
  Sharing sharing;
  Plan plan;
};

TEST(CheckPlan, AcceptsARightPlan) { Spoilt().check(); }

TEST(CheckPlan, NamesTwoVarsThatLieOverEachOtherWhileBothLive) {
  Spoilt s;
  s.place("b") = s.place("a");
  EXPECT_EQ(error_of([&] { s.check(); }), "plan: 'b' lies over 'a' while both live");
}

TEST(CheckPlan, AcceptsTwoVarsInOnePlaceInTurn) {
  Program program = parse_program(
      "input x f32[64]\ntemp a f32[64]\ntemp b f32[64]\ntemp c f32[64]\nblock 0 {\n  a = exp(x)\n  b = exp(a)\n  c = "
      "exp(b)\n}\n");
  Prepared prepared({});
  const Workspaces workspaces = workspaces_of(program, prepared);
  const Liveness live = liveness(program);
  const std::vector<Pin> pins = collect_pins(program, {});
  const Sharing sharing = share_views(program, live, pins);
  Plan plan = plan_none(program, workspaces);
  plan.vars[3] = plan.vars[1];
  check_plan(program, live, pins, sharing, plan, workspaces);
}

TEST(CheckPlan, NamesAVarWithoutMemory) {
  Spoilt s;
  s.place("c") = {};
  EXPECT_EQ(error_of([&] { s.check(); }), "plan: 'c' has no memory");
}

TEST(CheckPlan, NamesAVarThatLeavesItsBuffer) {
  Spoilt s;
  s.place("c").offset = 64;
  EXPECT_EQ(error_of([&] { s.check(); }), "plan: 'c' ends at 320 of a buffer of 256 bytes");
}

TEST(CheckPlan, NamesAVarThatIsNotAligned) {
  Spoilt s;
  s.plan.buffers[static_cast<std::size_t>(s.place("c").buffer)].bytes += 768;
  s.plan.bytes.temps += 768;
  s.place("c").offset = 4;
  EXPECT_EQ(error_of([&] { s.check(); }), "plan: 'c' lies at 4, which is not aligned to 64");
}

TEST(CheckPlan, NamesAValueWrittenOverTooEarlyInItsStorage) {
  Spoilt s;
  const int a = s.sharing.of[find_var(s.program, "a")];
  s.sharing.of[find_var(s.program, "b")] = a;
  s.place("b") = s.place("a");
  EXPECT_EQ(error_of([&] { s.check(); }), "plan: 'b' is written over 'a', which is needed later");
}

TEST(CheckPlan, NamesAnOpThatCannotWriteInPlace) {
  Program program = parse_program(
      "input x f32[8,8]\ntemp a f32[8,8]\ntemp b f32[8,8]\nblock 0 {\n  a = exp(x)\n  b = transpose(a) "
      "{perm=[1,0]}\n}\n");
  Prepared prepared({});
  const Workspaces workspaces = workspaces_of(program, prepared);
  const Liveness live = liveness(program);
  const std::vector<Pin> pins = collect_pins(program, {});
  Sharing sharing = share_views(program, live, pins);
  Plan plan = plan_none(program, workspaces);
  sharing.of[2] = sharing.of[1];
  plan.vars[2] = plan.vars[1];
  EXPECT_EQ(error_of([&] { check_plan(program, live, pins, sharing, plan, workspaces); }),
            "plan: 'transpose' cannot write 'b' in place of 'a'");
}

TEST(CheckPlan, BelievesNothingOfLivesAndPinsThatTheSharingSays) {
  Spoilt s;
  s.place("b") = s.place("a");
  for (Storage& storage : s.sharing.storages) storage.life.dies = storage.life.born + 1;
  EXPECT_EQ(error_of([&] { s.check(); }), "plan: 'b' lies over 'a' while both live");
  Spoilt fetched;
  fetched.pins = collect_pins(fetched.program, {.fetched = {find_var(fetched.program, "a")}});
  fetched.place("c") = fetched.place("a");  // a is dead then, but fetched; the sharing knows of no pin
  EXPECT_EQ(error_of([&] { fetched.check(); }), "plan: 'c' lies over 'a' while both live");
}

TEST(CheckPlan, NamesWhatIsMadeFromAPinnedVarInItsPlace) {
  Spoilt s;
  s.pins = collect_pins(s.program, {.fetched = {find_var(s.program, "b")}});
  s.sharing.of[find_var(s.program, "c")] = s.sharing.of[find_var(s.program, "b")];
  s.place("c") = s.place("b");
  EXPECT_EQ(error_of([&] { s.check(); }), "plan: 'c' is in the memory of 'b', which is pinned");
}

TEST(CheckPlan, NamesVarsOfOneStorageInTwoPlaces) {
  Spoilt s;
  s.sharing.of[find_var(s.program, "c")] = s.sharing.of[find_var(s.program, "b")];
  EXPECT_EQ(error_of([&] { s.check(); }), "plan: 'c' and 'b' share their memory but lie in different places");
}

TEST(CheckPlan, NamesAWrongSumOfBytes) {
  Spoilt s;
  s.plan.bytes.temps += 4;
  EXPECT_EQ(error_of([&] { s.check(); }), "plan: says 1028 bytes, but takes 1024");
}

/// Of f64, whose products state workspaces of their own.
TEST(CheckPlan, NamesAParamInABufferAndAWorkspaceWithoutAPlace) {
  const Program program = random_program(1, DType::f64).network.program;
  Prepared prepared({});
  const Workspaces workspaces = workspaces_of(program, prepared);
  const Liveness live = liveness(program);
  const std::vector<Pin> pins = collect_pins(program, {});
  const Sharing sharing = share_views(program, live, pins);
  Plan plan = plan_none(program, workspaces);
  const auto error = [&] { return error_of([&] { check_plan(program, live, pins, sharing, plan, workspaces); }); };
  ASSERT_EQ(error(), "(nothing)");
  const auto param =
      std::find_if(program.vars.begin(), program.vars.end(), [](const Var& var) { return var.kind == Kind::Param; });
  Place& of_param = plan.vars[static_cast<std::size_t>(param - program.vars.begin())];
  of_param = {.buffer = 0};
  EXPECT_EQ(error(), "plan: '" + param->name + "' lives in the store, but has a place in a buffer");
  of_param = {};
  const auto needed = std::find_if(plan.workspaces[0].begin(), plan.workspaces[0].end(),
                                   [](const Place& place) { return place.buffer >= 0; });
  ASSERT_NE(needed, plan.workspaces[0].end()) << "no op has a workspace";
  const Op& op = program.blocks[0].ops[static_cast<std::size_t>(needed - plan.workspaces[0].begin())];
  *needed = {};
  EXPECT_EQ(error(), "plan: '" + op.type + "' has no memory");
  *needed = plan.vars[op.out[0]];
  plan.buffers[static_cast<std::size_t>(needed->buffer)].bytes += 1 << 20;
  plan.bytes.temps += 1 << 20;
  EXPECT_NE(error().find(" lies over "), std::string::npos) << error() << ": a workspace in the op's own output";
}

/// Every pair of storages compared with every other: slow and plainly right.
bool overlaps(const Program& program, const Sharing& sharing, const Plan& plan) {
  const auto& all = sharing.storages;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const Place a = plan.vars[all[i].root], b = plan.vars[all[j].root];
      if (a.buffer < 0 || a.buffer != b.buffer) continue;
      const bool in_time = all[i].life.born < all[j].life.dies && all[j].life.born < all[i].life.dies;
      const bool in_place = a.offset < b.offset + bytes_of(program.vars[all[j].root]) &&
                            b.offset < a.offset + bytes_of(program.vars[all[i].root]);
      if (in_time && in_place) return true;
    }
  return false;
}

TEST(CheckPlan, FindsWhatComparingAllPairsFinds) {
  int wrong = 0;
  for (int seed = 0; seed < random_programs(); ++seed) {
    const Program program = random_program(static_cast<std::uint64_t>(seed)).network.program;
    Prepared prepared({});
    const Workspaces workspaces = workspaces_of(program, prepared);
    const Liveness live = liveness(program);
    const std::vector<Pin> pins = collect_pins(program, {});
    const Sharing sharing = share_views(program, live, pins);
    Plan plan = plan_none(program, workspaces);
    const std::int64_t room = 1 << 20;
    plan.bytes.temps += room - plan.buffers[0].bytes;
    plan.buffers[0].bytes = room;
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto thrown = [&] {
      try {
        check_plan(program, live, pins, sharing, plan, workspaces);
      } catch (const Error&) {
        return true;
      }
      return false;
    };
    EXPECT_FALSE(thrown());
    for (int left = seed % 5; left > 0; --left) {  // storages at random places of the first buffer
      const Storage& s = sharing.storages[random() % sharing.storages.size()];
      if (s.pin == Pin::Persistable || s.life.is_empty()) continue;
      const Place place{.buffer = 0, .offset = 64 * static_cast<std::int64_t>(random() % 16)};
      for (std::size_t v = 0; v < program.vars.size(); ++v)
        if (&sharing.storages[static_cast<std::size_t>(sharing.of[v])] == &s) plan.vars[v] = place;
    }
    const bool expected = overlaps(program, sharing, plan);
    wrong += expected;
    EXPECT_EQ(thrown(), expected) << "seed " << seed;
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
  const Program program = loop_program(true);
  Prepared prepared({});
  const Workspaces workspaces = workspaces_of(program, prepared);
  const Liveness live = liveness(program);
  const std::vector<Pin> pins = collect_pins(program, {});
  Sharing sharing = share_views(program, live, pins);
  Plan plan = plan_none(program, workspaces);
  const VarId h = find_var(program, "h"), y = find_var(program, "y");
  sharing.of[y] = sharing.of[h];
  plan.vars[y] = plan.vars[h];
  EXPECT_EQ(error_of([&] { check_plan(program, live, pins, sharing, plan, workspaces); }),
            "plan: 'y' is written over 'h', which is needed later");
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
