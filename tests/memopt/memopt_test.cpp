#include "memopt/memopt.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "framework/language/text.h"
#include "framework/run/executor.h"
#include "tests/support/counting_device.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

TEST(ParseMemopt, ReadsEverySetting) {
  EXPECT_EQ(parse_memopt("none").level, Level::None);
  EXPECT_EQ(parse_memopt("level=0").level, Level::SameShape);
  EXPECT_EQ(parse_memopt("level=1").level, Level::Fits);
  EXPECT_EQ(parse_memopt("level=2").level, Level::Arena);
  EXPECT_TRUE(parse_memopt("level=2").in_place);
  EXPECT_EQ(parse_memopt("level=3").level, Level::Recompute);
  EXPECT_TRUE(parse_memopt("level=3").in_place);
  EXPECT_FALSE(parse_memopt("level=1").in_place);
  const MemoptOptions both = parse_memopt("level=1,inplace,release");
  EXPECT_TRUE(both.in_place && both.release);
}

TEST(ParseMemopt, RefusesWhatMakesNoSense) {
  const std::string known = "; known: none, level=0, level=1 (each with ,release and ,inplace), level=2 or level=3";
  EXPECT_EQ(error_of([] { parse_memopt("level=7"); }), "`memopt` level=7: unknown setting 'level=7'" + known);
  EXPECT_EQ(error_of([] { parse_memopt(""); }), "`memopt` : unknown setting ''" + known);
  EXPECT_EQ(error_of([] { parse_memopt("release"); }), "`memopt` release: unknown setting 'release'" + known);
  EXPECT_EQ(error_of([] { parse_memopt("level=1,relase"); }),
            "`memopt` level=1,relase: unknown 'relase' after the level" + known);
  EXPECT_EQ(error_of([] { parse_memopt("none,release,release"); }),
            "`memopt` none,release,release: 'release' stands there twice");
  EXPECT_EQ(error_of([] { parse_memopt("level=2,release"); }),
            "`memopt` level=2,release: level=2 gives every byte its place beforehand, so there is nothing to release; "
            "say `memopt` level=2");
  EXPECT_EQ(error_of([] { parse_memopt("level=2,inplace"); }),
            "`memopt` level=2,inplace: level=2 is in place already; say `memopt` level=2");
}

std::int64_t bytes_under(const char* memopt, const Program& program) {
  Prepared prepared({});
  return plan_memory(program, prepared, parse_memopt(memopt)).plan.bytes.total();
}

TEST(PlanMemory, EachSettingNeedsNoMoreThanTheOneBefore) {
  for (const int seed : random_seeds()) {
    const Program program = random_program(static_cast<std::uint64_t>(seed)).network.program;
    const std::int64_t none = bytes_under("none", program), level0 = bytes_under("level=0", program);
    EXPECT_LE(level0, none);
    EXPECT_LE(bytes_under("none,inplace", program), none);
    EXPECT_LE(bytes_under("none,release", program), none);
    EXPECT_LE(bytes_under("level=0,release", program), level0);
  }
}

TEST(PlanMemory, IsTheSameEachTime) {
  for (const char* memopt : {"level=0,release", "level=1,inplace", "level=2"}) {
    const Program program = random_program(5).network.program;
    Prepared prepared({});
    const Planned once = plan_memory(program, prepared, parse_memopt(memopt));
    const Planned again = plan_memory(program, prepared, parse_memopt(memopt));
    EXPECT_EQ(once.plan, again.plan);
    EXPECT_EQ(once.program, again.program);
  }
}

TEST(PlanMemory, AnArenaReachesItsLowerBoundOrSaysHowFarItIs) {
  for (const int seed : random_seeds()) {
    const Program program = random_program(static_cast<std::uint64_t>(seed)).network.program;
    Prepared prepared({});
    const Planned made = plan_memory(program, prepared, parse_memopt("level=2"));
    ASSERT_TRUE(made.arena.has_value());
    EXPECT_GE(made.arena->bytes, made.arena->lower_bound);
    if (made.arena->bytes == made.arena->lower_bound) {
      EXPECT_TRUE(made.arena->certified);
    }
    ASSERT_EQ(made.plan.buffers.size(), 1U);
    EXPECT_EQ(made.plan.buffers[0].bytes, made.arena->bytes);
  }
}

TEST(PlanMemory, TheLogIsCollectedOnlyIfAskedFor) {
  Prepared prepared({});
  MemoptOptions options = parse_memopt("level=1,inplace");
  EXPECT_TRUE(plan_memory(random_program(5).network.program, prepared, options).log.empty());
  options.print_log = true;
  EXPECT_FALSE(plan_memory(random_program(5).network.program, prepared, options).log.empty());
}

TEST(PlanMemory, TheLogBeginsWithWhatEachStepMadeOfTheProgram) {
  Prepared prepared({});
  MemoptOptions options = suited(parse_memopt("level=2"), prepared.device());
  options.print_log = true;
  const Program program = parse_program(
      "input x f32[4]\ninput y f32[4]\ntemp a f32[4]\ntemp b f32[4]\nblock 0 {\n  a = add(x, y)\n  b = relu(a)\n}\n");
  const std::vector<std::string> log = plan_memory(program, prepared, options).log;
  EXPECT_EQ(log.front(), "mask_picked: changes nothing");
  EXPECT_EQ(std::count(log.begin(), log.end(), "fuse_activations: 2 ops -> 2 ops"), 1) << joined(log);
}

TEST(PlanMemory, KernelsCountOnce) {
  for (const char* const memopt : {"none", "level=1", "level=2", "level=3"}) {
    Prepared prepared({});
    const MemoptOptions options = suited(parse_memopt(memopt), prepared.device());
    const Program program = random_program(5).network.program;
    const Planned first = plan_memory(program, prepared, options), second = plan_memory(program, prepared, options);
    EXPECT_GT(first.kernels_ms, 0) << memopt;
    EXPECT_EQ(first.kernels_ms, prepared.kernels_ms()) << memopt;
    EXPECT_EQ(second.kernels_ms, 0) << memopt;
  }
}

TEST(PlanMemory, OnlyWhatIsKeptCanBeFetched) {
  const Program program =
      parse_program("input x f32[4]\ntemp a f32[4]\ntemp b f32[4]\nblock 0 {\n  a = exp(x)\n  b = exp(a)\n}\n");
  for (const char* memopt : {"level=0", "level=1,release", "none,inplace", "level=2"}) {
    CountingDevice device;
    Prepared prepared(device);
    MemoptOptions options = parse_memopt(memopt);
    options.pins.fetched = {find_var(program, "b")};
    const Planned planned = plan_memory(program, prepared, options);
    Store store(device);
    Executor executor(planned.program, planned.plan, prepared, store);
    float values[4] = {};
    executor.feed(0, values, sizeof values);
    executor.run();
    executor.fetch(2, values, sizeof values);
    EXPECT_NEAR(values[0], 2.71828f, 1e-5);
    EXPECT_TRUE(fails_with("'a' does not keep its memory", [&] { executor.fetch(1, values, sizeof values); }))
        << memopt;
  }
}

}  // namespace
}  // namespace lethe::testing
