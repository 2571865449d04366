#include <gtest/gtest.h>

#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/builder.h"
#include "framework/language/verify.h"
#include "framework/random.h"
#include "framework/run/executor.h"
#include "kernels/cpu/device.h"
#include "optimizer/optimizer.h"
#include "optimizer/schedule.h"

namespace lethe::testing {
namespace {

struct Case {
  const char* optimizer;
  double rate;
  double clip_norm = 0;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.optimizer << (c.clip_norm > 0 ? ", clipped" : ""); }

class Convergence : public ::testing::TestWithParam<Case> {};

/// Two layers learn y = x0 * x1 from 64 points.
TEST_P(Convergence, TwoLayersLearnAProduct) {
  constexpr std::int64_t kPoints = 64, kSteps = 800;
  Builder net({.batch = kPoints, .dtype = DType::f64});
  const VarId x = net.input("x", {2}), y = net.input("y", {1});
  const VarId hidden = net.layer("relu", net.layer("fc", x, {{"out", 16}}));
  net.loss("mse", net.layer("fc", hidden, {{"out", 1}}), y);
  Network network = net.finish();
  Program& program = network.program;

  OptimizerSettings settings = optimizer_named(GetParam().optimizer);
  settings.clip_norm = GetParam().clip_norm;
  const Updates updates = append_updates(program, append_backward(program, network.loss), network.params, settings);
  verify(program);

  const auto device = open_cpu(2);
  Store store(*device);
  store.initialize(program, network.params, 1);
  Prepared prepared(*device);
  const Plan plan = plan_none(program, workspaces_of(program, prepared));
  Executor executor(program, plan, prepared, store);
  Random random(3);
  std::vector<double> points, products;
  for (std::int64_t i = 0; i < kPoints; ++i) {
    const double a = 2 * random.uniform() - 1, b = 2 * random.uniform() - 1;
    points.insert(points.end(), {a, b});
    products.push_back(a * b);
  }
  executor.feed(x, points.data(), kPoints * 2 * std::int64_t{sizeof(double)});
  executor.feed(y, products.data(), kPoints * std::int64_t{sizeof(double)});
  const Schedule schedule = parse_schedule("cosine+warmup@10");
  double first = 0;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const double rate = schedule.at(step, {.total = kSteps, .per_epoch = kSteps}, GetParam().rate);
    executor.feed(updates.learning_rate, &rate, sizeof rate);
    executor.run();
    if (step == 0) first = executor.fetch_scalar(network.loss);
  }
  EXPECT_LT(executor.fetch_scalar(network.loss), first / 20) << "first " << first;
}

INSTANTIATE_TEST_SUITE_P(Optimizer, Convergence,
                         ::testing::Values(Case{"sgd", 0.5}, Case{"sgd", 0.5, 1.0}, Case{"momentum", 0.1},
                                           Case{"nesterov", 0.1}, Case{"adam", 0.02}, Case{"adam", 0.02, 1.0},
                                           Case{"adamw", 0.02}, Case{"rmsprop", 0.01}, Case{"lion", 0.005},
                                           Case{"adafactor", 0.05}));

}  // namespace
}  // namespace lethe::testing
