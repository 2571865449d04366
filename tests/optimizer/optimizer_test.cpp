#include "optimizer/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "tests/optimizer/training.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

/// Three steps from kStart with kGradients and rate 0.1; `expected` is what PyTorch, of Lion timm, gives in f64.
void expect_steps(const OptimizerSettings& settings, const std::vector<Reals>& expected) {
  Training training({kStart}, settings);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    training.step({kGradients[step]});
    const Reals w = training.values("w0");
    for (std::size_t i = 0; i < w.size(); ++i)
      EXPECT_NEAR(w[i], expected[step][i], 1e-14) << "step " << step << ", element " << i;
  }
}

TEST(Optimizer, SgdStepsAgainstTheGradient) {
  expect_steps(optimizer_named("sgd"), {{0.95, -1.9, 0.3}, {0.925, -2.2, 0.4}, {1.075, -2.2125, 0.325}});
}

TEST(Optimizer, SgdDecaysWeights) {
  expect_steps(with_decay("sgd"),
               {{0.949, -1.898, 0.2995}, {0.923051, -2.196102, 0.3992005}, {1.072127949, -2.206405898, 0.3238012995}});
}

TEST(Optimizer, MomentumIsPyTorchs) {
  expect_steps(with_decay("momentum"),
               {{0.949, -1.898, 0.2995}, {0.877151, -2.104302, 0.2187505}, {0.961609749, -2.300369498, 0.0708571995}});
}

TEST(Optimizer, NesterovIsPyTorchs) {
  expect_steps(with_decay("nesterov"), {{0.9031, -1.8062, 0.11905},
                                        {0.81257411, -2.29014822, 0.146418805},
                                        {1.037869708191, -2.476725916382, -0.0616203212295}});
}

TEST(Optimizer, AdamIsPyTorchs) {
  expect_steps(with_decay("adam"), {{0.90000000196078433, -1.9000000009803921, 0.40000000049875312},
                                    {0.80655504104993192, -1.9487271496806455, 0.37311563766587519},
                                    {0.84037152846143626, -1.9885115491838183, 0.33302254400095888}});
}

TEST(Optimizer, AdamWDecaysApartFromTheGradient) {
  EXPECT_EQ(optimizer_named("adamw").weight_decay, 0.01);
  expect_steps(optimizer_named("adamw"), {{0.89900000199999996, -1.898000001, 0.39950000050000001},
                                          {0.80488304047546233, -1.9455209841077441, 0.37246679670193156},
                                          {0.83880050775570669, -1.9842711864523468, 0.33224620040598901}});
}

TEST(Optimizer, RmsPropIsPyTorchs) {
  expect_steps(with_decay("rmsprop"), {{1.9607839341073685e-07, -1.0000000980392065, -0.49999995012469056},
                                       {-0.44194215736276965, -1.9469380101025715, -0.05009340855876776},
                                       {0.49465446436024674, -1.9805091695173651, -0.36963148817025848}});
}

TEST(Optimizer, LionDecaysApartFromTheSign) {
  EXPECT_EQ(optimizer_named("lion").weight_decay, 0);
  EXPECT_EQ(optimizer_named("lion").beta2, 0.99);
  expect_steps(with_decay("lion"),
               {{0.899, -1.898, 0.3995}, {0.798101, -1.996102, 0.4991005}, {0.897302899, -2.094105898, 0.3986013995}});
}

TEST(Optimizer, LionStandsStillWhereNothingPullsAndShowsWhatIsNotANumber) {
  Training training({{1, 1}}, optimizer_named("lion"));
  training.step({{0, std::numeric_limits<double>::quiet_NaN()}});
  EXPECT_EQ(training.values("w0")[0], 1);
  EXPECT_TRUE(std::isnan(training.values("w0")[1]));
}

TEST(Optimizer, RmsPropTakesMomentum) {
  OptimizerSettings settings = with_decay("rmsprop");
  settings.momentum = 0.9;
  expect_steps(settings, {{1.9607839328861233e-07, -1.0000000980392063, -0.49999995012469051},
                          {-1.3419419808922159, -1.0469380983378571, -0.95009336367098907},
                          {-1.6124107151047333, -1.1256128664563065, -1.6712639495420847}});
}

TEST(Optimizer, ClipsByTheNormOfAllGradients) {
  OptimizerSettings settings = optimizer_named("sgd");
  settings.clip_norm = 1;
  expect_steps(settings, {{0.97817822050020609, -1.9563564410004122, 0.41271288200082451},
                          {0.97029711892228632, -2.050929659935449, 0.44423728831250348},
                          {1.0594923634333038, -2.0583625969780339, 0.39963966605699475}});
  Training two({{0}, {0}}, settings);
  two.step({{3}, {4}}, 1);
  EXPECT_NEAR(two.values("w0")[0], -0.6, 1e-6);
  EXPECT_NEAR(two.values("w1")[0], -0.8, 1e-6);
}

TEST(Optimizer, ClippingReachesAdam) {
  OptimizerSettings settings = optimizer_named("adam");
  settings.clip_norm = 1;
  expect_steps(settings, {{0.90000000458257745, -1.9000000022912888, 0.40000000114564443},
                          {0.81169373336907369, -1.9395072812782177, 0.36227024801250285},
                          {0.85635251217964425, -1.9745187805429945, 0.30829704752303733}});
}

TEST(Optimizer, SmallGradientsAreNotClipped) {
  OptimizerSettings settings = optimizer_named("sgd");
  settings.clip_norm = 6;
  Training training({{0}, {0}}, settings);
  training.step({{3}, {4}}, 1);
  EXPECT_EQ(training.values("w0")[0], -3);
  EXPECT_EQ(training.values("w1")[0], -4);
}

TEST(Optimizer, NormOfManyElementsIsExact) {
  OptimizerSettings settings = optimizer_named("sgd");
  settings.clip_norm = 1;
  const Reals zeros(100003, 0.0), ones(100003, 1.0), more(7, 2.0);  // not a multiple of any chunk
  Training training({zeros, Reals(7, 0.0)}, settings);
  training.step({ones, more}, 1);
  const double scale = 1 / (std::sqrt(100003 + 28.0) + 1e-6);
  EXPECT_DOUBLE_EQ(training.values("w0").back(), -scale);
  EXPECT_DOUBLE_EQ(training.values("w1")[3], -2 * scale);
}

TEST(Optimizer, DecaysOnlyWhatItsRecordSays) {
  Training bias({kStart}, with_decay("sgd", 0.5), false);
  bias.step({{0, 0, 0}});
  EXPECT_EQ(bias.values("w0"), kStart);
  OptimizerSettings all = with_decay("sgd", 0.5);
  all.decay = "*";
  Training asked({kStart}, all, false);
  asked.step({{0, 0, 0}});
  EXPECT_DOUBLE_EQ(asked.values("w0")[0], 0.95);
}

TEST(Optimizer, DecaysByName) {
  const auto after_a_step = [](const std::string& decay, const std::string& no_decay, bool weights) {
    OptimizerSettings settings = with_decay("sgd", 0.5);
    settings.decay = decay;
    settings.no_decay = no_decay;
    Training training({{1}, {1}, {1}}, settings, weights);
    training.step({{0}, {0}, {0}});
    return Reals{training.values("w0")[0], training.values("w1")[0], training.values("w2")[0]};
  };
  EXPECT_EQ(after_a_step("w1", "", false), (Reals{1, 0.95, 1}));
  EXPECT_EQ(after_a_step("w0,*2", "", false), (Reals{0.95, 1, 0.95}));
  EXPECT_EQ(after_a_step("", "*1*", true), (Reals{0.95, 1, 0.95}));
  EXPECT_EQ(after_a_step("*", "w2,w*0", false), (Reals{1, 0.95, 1})) << "no_decay has the last word";
}

TEST(Optimizer, SaysWhichNameNoParameterHas) {
  OptimizerSettings settings = with_decay("sgd");
  settings.no_decay = "w0,b*";
  EXPECT_EQ(error_of([&] { Training({{1}}, settings); }), "`no_decay`: no parameter is called 'b*'");
}

TEST(Optimizer, StatesAreNamedAfterTheirParameter) {
  const Training training({{1}, {2}}, optimizer_named("adam"));
  std::vector<std::string> names;
  for (const VarId state : training.updates.states) names.push_back(training.program.vars[state].name);
  EXPECT_EQ(names, (std::vector<std::string>{"w0@m", "w0@v", "w1@m", "w1@v"}));
  for (const VarId state : training.updates.states) EXPECT_EQ(training.program.vars[state].kind, Kind::State);
}

TEST(Optimizer, StepIsCountedOnceAndLast) {
  Training training({{1}, {2}}, optimizer_named("adam"));
  EXPECT_EQ(training.program.blocks[0].ops.back().type, "increment");
  for (int step = 1; step <= 3; ++step) {
    training.step({{1}, {1}});
    EXPECT_EQ(training.steps_counted(), step);
  }
}

TEST(Optimizer, UsesTheNetworksStepCounter) {
  Program program;
  const VarId step = add_var(program, {.name = "step", .dtype = DType::i64, .kind = Kind::State});
  const VarId param = add_var(program, {.name = "w", .shape = {2}, .kind = Kind::Param});
  const VarId gradient = add_var(program, {.name = "g", .shape = {2}, .kind = Kind::Input});
  const Updates updates = append_updates(program, {{param, gradient}}, {}, optimizer_named("sgd"));
  EXPECT_EQ(updates.step, step);
  EXPECT_EQ(program.blocks[0].ops.back().type, "increment");
  EXPECT_EQ(program.blocks[0].ops.back().in, std::vector<VarId>{step});
}

TEST(Optimizer, SgdAloneCountsNothing) {
  const Training training({{1}}, optimizer_named("sgd"));
  EXPECT_EQ(training.updates.step, kNone);
  EXPECT_EQ(find_var(training.program, "step"), kNone);
  EXPECT_EQ(training.program.blocks[0].ops.size(), 1u);
}

TEST(Optimizer, UnknownNameIsAnErrorWithASuggestion) {
  try {
    optimizer_named("adamm");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "unknown optimizer 'adamm'; did you mean 'adam'?; known: sgd, momentum, nesterov, adam, adamw, "
                 "rmsprop, lion, adafactor");
  }
}

TEST(Optimizer, RefusesSettingsOutOfRange) {
  const auto refused = [](auto change) {
    OptimizerSettings settings;
    change(settings);
    EXPECT_THROW(Training({{1}}, settings), Error);
  };
  refused([](OptimizerSettings& s) { s.momentum = 1; });
  refused([](OptimizerSettings& s) { s.beta1 = -0.1; });
  refused([](OptimizerSettings& s) { s.beta2 = 1; });
  refused([](OptimizerSettings& s) { s.weight_decay = -1; });
  refused([](OptimizerSettings& s) { s.clip_norm = std::nan(""); });
  EXPECT_THROW(Training({}, OptimizerSettings{}), Error);
}

TEST(Optimizer, UpdateOpsCheckTheirSlots) {
  Program program;
  const VarId param = add_var(program, {.name = "w", .shape = {2, 3}, .kind = Kind::Param});
  const VarId gradient = add_var(program, {.name = "g", .shape = {3, 2}, .kind = Kind::Input});
  try {
    append_updates(program, {{param, gradient}}, {}, OptimizerSettings{});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("sgd: gradient is f32[3,2], expected f32[2,3]"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace lethe::testing
