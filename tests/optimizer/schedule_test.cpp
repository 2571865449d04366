#include "optimizer/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "framework/error.h"

namespace lethe::testing {
namespace {

constexpr RunLength kRun = {.total = 100, .per_epoch = 10};

double rate(const std::string& text, std::int64_t step, const RunLength& run = kRun) {
  return parse_schedule(text).at(step, run, 0.1);
}

std::string error_of(const std::string& text) {
  try {
    parse_schedule(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code, Exit::Usage);
    return error.what();
  }
  return "";
}

TEST(Schedule, ConstantStays) {
  EXPECT_EQ(rate("constant", 0), 0.1);
  EXPECT_EQ(rate("constant", 99), 0.1);
}

TEST(Schedule, StepMultipliesOnceAPeriod) {
  EXPECT_DOUBLE_EQ(rate("step@3ex0.5", 29), 0.1);
  EXPECT_DOUBLE_EQ(rate("step@3ex0.5", 30), 0.05);
  EXPECT_DOUBLE_EQ(rate("step@3ex0.5", 60), 0.025);
  EXPECT_DOUBLE_EQ(rate("step@40", 40), 0.01);
}

TEST(Schedule, MultistepMultipliesAtEachMilestone) {
  const RunLength run = {.total = 64000, .per_epoch = 391};
  EXPECT_DOUBLE_EQ(rate("multistep@32000,48000x0.1", 31999, run), 0.1);
  EXPECT_DOUBLE_EQ(rate("multistep@32000,48000x0.1", 32000, run), 0.01);
  EXPECT_DOUBLE_EQ(rate("multistep@32000,48000x0.1", 48000, run), 0.001);
}

TEST(Schedule, TimesAreStepsEpochsOrPercent) {
  for (const char* text : {"multistep@50x0.1", "multistep@5ex0.1", "multistep@50%x0.1"}) {
    EXPECT_DOUBLE_EQ(rate(text, 49), 0.1) << text;
    EXPECT_DOUBLE_EQ(rate(text, 50), 0.01) << text;
  }
  EXPECT_DOUBLE_EQ(rate("step@0.5ex0.1", 5), 0.01);
}

/// The first step with another rate than step 0 has.
std::int64_t first_drop(const std::string& text, const RunLength& run) {
  const Schedule schedule = parse_schedule(text);
  std::int64_t step = 0;
  while (step < run.total && schedule.at(step, run, 0.1) == 0.1) ++step;
  return step;
}

TEST(Schedule, TimesAreTheDecimalsThatAreWritten) {
  for (const char* name : {"multistep@", "step@"})
    for (const std::int64_t total : {100, 1000, 10000})
      for (std::int64_t percent = 1; percent < 100; ++percent)
        EXPECT_EQ(first_drop(message(name, percent, "%x0.1"), {.total = total, .per_epoch = 7}), percent * total / 100)
            << name << percent << "% of " << total;
  for (int tenths = 1; tenths < 100; ++tenths) {
    const std::string time = message(tenths / 10, '.', tenths % 10);
    EXPECT_EQ(first_drop(message("multistep@", time, "e"), {.total = 1000, .per_epoch = 100}), 10 * tenths) << time;
    EXPECT_EQ(first_drop(message("multistep@", time, "%"), {.total = 1000, .per_epoch = 100}), tenths) << time;
    EXPECT_EQ(first_drop(message("multistep@", time, "%"), {.total = 100, .per_epoch = 100}), (tenths + 9) / 10);
  }
  EXPECT_EQ(first_drop("multistep@1.10e", {.total = 1000, .per_epoch = 100}), 110);
  EXPECT_EQ(first_drop("multistep@7.0", kRun), 7);
}

TEST(Schedule, APeriodOfAFractionPassesEachTime) {
  for (std::int64_t step = 0; step < 1000; ++step) {
    EXPECT_EQ(rate("step@1.1ex0.5", step, {.total = 1000, .per_epoch = 100}), 0.1 * std::pow(0.5, step / 110)) << step;
    EXPECT_EQ(rate("step@0.07ex0.5", step, {.total = 1000, .per_epoch = 100}), 0.1 * std::pow(0.5, step / 7)) << step;
  }
}

TEST(Schedule, TimesOfAnyLengthAreCounted) {
  const RunLength longest = {.total = INT64_MAX, .per_epoch = INT64_MAX};
  EXPECT_EQ(rate("multistep@99.999999999999999999%x0.1", INT64_MAX - 1, longest), 0.1 * 0.1);
  EXPECT_EQ(rate("multistep@0.0000000000000001%x0.1", 9, longest), 0.1);
  EXPECT_EQ(rate("multistep@0.0000000000000001%x0.1", 10, longest), 0.1 * 0.1);
  EXPECT_EQ(rate("step@999999999999999.9ex0.5", INT64_MAX - 1, longest), 0.1);
  EXPECT_EQ(rate("step@0.0000000000000001ex0.5", INT64_MAX - 1, {.total = INT64_MAX, .per_epoch = 1}), 0);
  EXPECT_TRUE(std::isfinite(rate("step@50%x0.5", 0, {.total = 0, .per_epoch = 0})));
}

TEST(Schedule, ExpFallsSmoothly) {
  EXPECT_DOUBLE_EQ(rate("exp@1ex0.25", 0), 0.1);
  EXPECT_DOUBLE_EQ(rate("exp@1ex0.25", 5), 0.05);
  EXPECT_DOUBLE_EQ(rate("exp@1ex0.25", 10), 0.025);
}

TEST(Schedule, PolyFallsToZeroAtTheEndOfTheRun) {
  EXPECT_DOUBLE_EQ(rate("poly", 25), 0.075);
  EXPECT_DOUBLE_EQ(rate("poly^2", 50), 0.025);
  EXPECT_EQ(rate("poly^2", 100), 0);
  EXPECT_EQ(rate("poly^0.5", 120), 0);
}

TEST(Schedule, CosineIsPyTorchs) {
  // CosineAnnealingLR(T_max=10, eta_min=0.001) from 0.1
  const double expected[] = {0.1, 0.09757729755661011, 0.0905463412215599, 0.07959536998847742};
  for (int step = 0; step < 4; ++step)
    EXPECT_NEAR(rate("cosine@10x0.01", step, {.total = 50, .per_epoch = 5}), expected[step], 1e-15);
  EXPECT_NEAR(rate("cosine", 50), 0.05, 1e-15);
  EXPECT_NEAR(rate("cosine@90%x0.01", 95), 0.001, 1e-15);
}

TEST(Schedule, OneCycleIsPyTorchs) {
  // OneCycleLR(max_lr=0.1, total_steps=10)
  const double expected[] = {0.004,
                             0.052,
                             0.1,
                             0.09504846320134738,
                             0.0811745653949763,
                             0.06112620219362893,
                             0.03887419780637107,
                             0.0188258346050237,
                             0.004951936798652629,
                             4e-07};
  for (int step = 0; step < 10; ++step)
    EXPECT_NEAR(rate("one-cycle", step, {.total = 10, .per_epoch = 10}), expected[step], 1e-15) << step;
}

TEST(Schedule, WarmupRampsToTheScheduleWithoutAJump) {
  EXPECT_DOUBLE_EQ(rate("constant+warmup@4", 0), 0.025);
  EXPECT_DOUBLE_EQ(rate("constant+warmup@4", 1), 0.05);
  EXPECT_DOUBLE_EQ(rate("constant+warmup@4", 3), 0.1);
  EXPECT_DOUBLE_EQ(rate("constant+warmup@4", 4), 0.1);
  EXPECT_DOUBLE_EQ(rate("constant+warmup@4x0.2", 0), 0.04);
  for (const char* name : {"step@30x0.1", "multistep@30,60x0.1", "exp@1ex0.95"}) {
    const std::string warm = std::string(name).append("+warmup@2e");
    for (int step = 19; step < 100; ++step) EXPECT_EQ(rate(warm, step), rate(name, step)) << warm << " " << step;
    for (int step = 0; step < 19; ++step)
      EXPECT_DOUBLE_EQ(rate(warm, step), rate(name, step) * (step + 1) / 20) << warm << " " << step;
  }
}

TEST(Schedule, CosineAndPolyBeginWhereTheWarmupEndsAsTransformers) {
  // From step 3 on: get_cosine_schedule_with_warmup(3, 10), get_polynomial_decay_schedule_with_warmup(3, 10, lr_end=0)
  // with powers 1, 0.9 and 2, of transformers 5.24.0.
  const std::map<std::string, std::vector<double>> from_step_3 = {
      {"cosine",
       {0.1, 0.09504844339512096, 0.08117449009293669, 0.06112604669781572, 0.03887395330218429, 0.018825509907063328,
        0.004951556604879049, 0.0}},
      {"poly",
       {0.1, 0.08571428571428573, 0.07142857142857144, 0.05714285714285714, 0.042857142857142864, 0.02857142857142857,
        0.01428571428571429, 0.0}},
      {"poly^0.9",
       {0.1, 0.08704581368591593, 0.07387283529495574, 0.06043183144790013, 0.04664669656672159, 0.03238461661916278,
        0.017354486343415246, 0.0}},
      {"poly^2",
       {0.1, 0.07346938775510206, 0.05102040816326531, 0.03265306122448979, 0.018367346938775515, 0.008163265306122448,
        0.0020408163265306137, 0.0}}};
  for (const auto& [name, expected] : from_step_3)
    for (const char* warmup : {"+warmup@3", "+warmup@1e", "+warmup@30%"}) {
      const RunLength run = {.total = 10, .per_epoch = 3};
      const std::string text = name + warmup;
      for (int step = 0; step < 3; ++step) EXPECT_DOUBLE_EQ(rate(text, step, run), 0.1 * (step + 1) / 3) << text;
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(rate(text, 3 + static_cast<int>(i), run), expected[i], 1e-13) << text << " " << i;
    }
}

TEST(Schedule, ACosineThatEndsEarlyEndsAtItsTimeAlsoAfterAWarmup) {
  EXPECT_DOUBLE_EQ(rate("cosine@60x0.2+warmup@20x0.5", 0), 0.0525);
  EXPECT_DOUBLE_EQ(rate("cosine@60x0.2+warmup@20x0.5", 20), 0.1);
  EXPECT_DOUBLE_EQ(rate("cosine@60x0.2+warmup@20x0.5", 40), 0.06);
  EXPECT_DOUBLE_EQ(rate("cosine@60x0.2+warmup@20x0.5", 60), 0.02);
  EXPECT_DOUBLE_EQ(rate("cosine@60x0.2+warmup@20x0.5", 99), 0.02);
  EXPECT_DOUBLE_EQ(rate("cosine@10x0.2+warmup@20", 19), 0.1);  // no way is left for the curve
  EXPECT_DOUBLE_EQ(rate("cosine@10x0.2+warmup@20", 20), 0.02);
}

TEST(Schedule, AWarmupThatMultipliesLeavesTheCurveWhereItIs) {
  EXPECT_NEAR(rate("cosine*warmup@3", 2, {.total = 10, .per_epoch = 10}), 0.09045084971874737, 1e-15);
  for (const char* name : {"constant", "step@30x0.1", "multistep@30,60x0.1", "exp@1ex0.95", "poly^2", "cosine",
                           "cosine@90%x0.01", "one-cycle"}) {
    const std::string warm = std::string(name).append("*warmup@2e");
    for (int step = 0; step < 100; ++step)
      EXPECT_DOUBLE_EQ(rate(warm, step), rate(name, step) * std::min(step + 1, 20) / 20) << warm << " " << step;
  }
}

TEST(Schedule, OneCycleHasAWarmupOfItsOwn) {
  EXPECT_EQ(error_of("one-cycle@30%+warmup@3"),
            "schedule 'one-cycle@30%+warmup@3': one-cycle has a warm-up of its own, which one-cycle@TIME ends");
}

TEST(Schedule, UnknownNameIsAnErrorWithASuggestion) {
  EXPECT_EQ(error_of("cosin"),
            "unknown schedule 'cosin'; did you mean 'cosine'?; known: constant, step, multistep, exp, poly, cosine, "
            "one-cycle");
  EXPECT_NE(error_of("").find("unknown schedule ''"), std::string::npos);
}

TEST(Schedule, MalformedTextIsAnsweredWithTheRightForm) {
  EXPECT_EQ(
      error_of("multistep@x0.1"),
      "schedule 'multistep@x0.1': expected multistep@TIME,TIME,...xFACTOR, as multistep@32000,48000x0.1; a TIME is "
      "in steps (32000), epochs (80e) or percent of the run (50%)");
  for (const char* text : {"constant@3",
                           "constantx",
                           "constant^2",
                           "step",
                           "step@",
                           "step@0x0.1",
                           "step@-5x0.1",
                           "step@30ex0",
                           "step@30ex",
                           "step@1,2x0.1",
                           "step@1e5x0.1",
                           "step@0.0000000000000000000001ex0.1",
                           "step@.5ex0.1",
                           "step@5e%x0.1",
                           "multistep@20,10x0.1",
                           "multistep@10,10x0.1",
                           "multistep@10.5x0.1",
                           "multistep@120%x0.1",
                           "exp@1e",
                           "poly^0",
                           "poly@3",
                           "cosine@1,2",
                           "cosine 3",
                           "one-cycle@30%x2",
                           "constant+",
                           "constant+warm@3",
                           "constant+warmup",
                           "constant+warmup@3x2",
                           "constant+warmup@3junk",
                           "constant*warmup",
                           "constant+*warmup@3",
                           "cosine*warmup@3+warmup@3"})
    EXPECT_NE(error_of(text), "") << text;
}

}  // namespace
}  // namespace lethe::testing
