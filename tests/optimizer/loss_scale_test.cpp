// Dynamic loss scaling: what the scale becomes, which steps are skipped, what gradients count as.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "framework/run/executor.h"
#include "kernels/cpu/device.h"
#include "optimizer/optimizer.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor state(double halvings, double good, double skipped) { return {{3}, {halvings, good, skipped}, DType::i64}; }

TEST(LossScale, IsTheInitialOneHalvedSoOften) {
  const Attrs attrs{{"initial", 1024.0}};
  EXPECT_EQ(run_op("loss_scale", {state(0, 0, 0)}, attrs).values[0], 1024);
  EXPECT_EQ(run_op("loss_scale", {state(3, 7, 5)}, attrs).values[0], 128);
  EXPECT_EQ(run_op("loss_scale", {state(-2, 0, 0)}, attrs).values[0], 4096);
}

/// A parameter [1, -2] with its gradient fed, plain descent at rate 1, and a loss scale that begins with 8.
class Scaled : public ::testing::Test {
 protected:
  Scaled() { settings_.type = OptimizerType::Sgd; }

  void start() {
    param_ = add_var(program_, {.name = "w", .shape = {2}, .kind = Kind::Param});
    gradient_ = add_var(program_, {.name = "w@GRAD", .shape = {2}, .kind = Kind::Input});
    const LossScale scale = append_loss_scale(program_, 8);
    updates_ = append_updates(program_, {{param_, gradient_}}, {}, settings_, scale);
    plan_ = plan_none(program_, workspaces_of(program_, prepared_));
    executor_ = std::make_unique<Executor>(program_, plan_, prepared_, store_);
    const float begin[] = {1, -2};
    store_.write("w", begin, sizeof begin);
  }
  void step(std::vector<float> gradients) {
    const float rate = 1;
    executor_->feed(gradient_, gradients.data(), 8);
    executor_->feed(updates_.learning_rate, &rate, sizeof rate);
    executor_->run();
  }
  std::vector<float> weights() const {
    const auto bytes = store_.read("w");
    const auto* first = reinterpret_cast<const float*>(bytes.data());
    return {first, first + 2};
  }
  std::vector<std::int64_t> scale_state() const {
    const auto bytes = store_.read("loss_scale");
    const auto* first = reinterpret_cast<const std::int64_t*>(bytes.data());
    return {first, first + 3};
  }

  OptimizerSettings settings_;
  std::unique_ptr<Device> device_ = open_cpu(1);
  Program program_;
  Store store_{*device_};
  Prepared prepared_{*device_};
  Plan plan_;
  Updates updates_;
  VarId param_ = kNone, gradient_ = kNone;
  std::unique_ptr<Executor> executor_;
};

using Numbers = std::vector<float>;
using State = std::vector<std::int64_t>;

TEST_F(Scaled, GradientsAreDividedByTheScale) {
  start();
  step({4, -8});
  EXPECT_EQ(weights(), (Numbers{0.5F, -1}));
  EXPECT_EQ(scale_state(), (State{0, 1, 0}));
}

TEST_F(Scaled, AnInfiniteGradientSkipsTheStepAndHalvesTheScale) {
  start();
  step({4, INFINITY});
  EXPECT_EQ(weights(), (Numbers{1, -2}));
  EXPECT_EQ(scale_state(), (State{1, 0, 1}));
  step({4, NAN});
  EXPECT_EQ(weights(), (Numbers{1, -2}));
  EXPECT_EQ(scale_state(), (State{2, 0, 2}));
  step({4, -8});  // of a loss scaled by 2
  EXPECT_EQ(weights(), (Numbers{-1, 2}));
  EXPECT_EQ(scale_state(), (State{2, 1, 2}));
}

TEST_F(Scaled, ClippingMeasuresTheGradientsThemselves) {
  settings_.clip_norm = 1;
  start();
  step({24, 32});  // (3, 4) times 8: the norm is 5
  EXPECT_NEAR(weights()[0], 1 - 0.6, 1e-6);
  EXPECT_NEAR(weights()[1], -2 - 0.8, 1e-6);
  step({4, 0});  // within the limit
  EXPECT_NEAR(weights()[0], 1 - 0.6 - 0.5, 1e-6);
}

TEST_F(Scaled, GrowsAfterTwoThousandGoodSteps) {
  start();
  for (int i = 0; i < 1999; ++i) step({0, 0});
  EXPECT_EQ(scale_state(), (State{0, 1999, 0}));
  step({0, 0});
  EXPECT_EQ(scale_state(), (State{-1, 0, 0}));
}

/// Adam's first update after two skipped steps is its first: rate * sign of the gradient.
TEST_F(Scaled, SkippedStepsDoNotCountForTheOptimizer) {
  settings_ = optimizer_named("adam");
  start();
  step({INFINITY, 1});
  step({1, NAN});
  step({4, -8});
  EXPECT_NEAR(weights()[0], 1 - 1, 1e-5);
  EXPECT_NEAR(weights()[1], -2 + 1, 1e-5);
  EXPECT_EQ(find_var(program_, "step"), kNone) << "nothing reads a counter of all steps";
}

TEST_F(Scaled, StatesStayAsTheyAreInASkippedStep) {
  settings_ = optimizer_named("adam");
  start();
  step({8, 8});
  const auto m = store_.read("w@m"), v = store_.read("w@v");
  const Numbers before = weights();
  step({INFINITY, 1});
  EXPECT_EQ(store_.read("w@m"), m);
  EXPECT_EQ(store_.read("w@v"), v);
  EXPECT_EQ(weights(), before);
}

/// 2, 3 and 6 have the norm 7.
TEST(ClipScale, TakesGradientsOfSeveralDtypes) {
  const Attrs attrs{{"max_norm", 3.5}};
  for (const DType low : {DType::bf16, DType::f16, DType::f32})
    EXPECT_NEAR(run_op("clip_scale", {{}, Tensor{{2, 1}, {2, 3}, low}, Tensor{{1}, {6}, DType::f32}}, attrs).values[0],
                0.5, 1e-6);
  const auto with_f64 = [&] { run_op("clip_scale", {{}, Tensor{{2}, {2, 3}}, Tensor{{1}, {6}, DType::f32}}, attrs); };
  EXPECT_TRUE(fails_with("is f32[1], the first is of f64", with_f64));
}

TEST(ClipScale, WithoutALossScaleGradientsThatAreNotFiniteGiveNan) {
  const Attrs attrs{{"max_norm", 1.0}};
  EXPECT_TRUE(std::isnan(run_op("clip_scale", {{}, Tensor{{2}, {1, kInfinity}}}, attrs).values[0]));
  EXPECT_TRUE(std::isnan(run_op("clip_scale", {{}, Tensor{{2}, {1, NAN}}}, attrs).values[0]));
}

}  // namespace
}  // namespace lethe::testing
