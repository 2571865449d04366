// Bit-identical results across memory settings: what the memory stage promises.
#include "tests/memopt/same_result.h"

#include <gtest/gtest.h>

#include "models/network.h"
#include "optimizer/optimizer.h"

namespace lethe::testing {
namespace {

/// All settings against none, with and without --skip-grads.
void expect_the_same_under_all_settings(const TrainingProgram& made, int steps, int threads = 1) {
  const Outcome expected = run_under(made, options_of("none", false, made.network), steps, threads);
  EXPECT_EQ(expected.taken, expected.predicted);
  const std::int64_t padding = DeviceInfo{}.alignment * static_cast<std::int64_t>(made.network.program.vars.size());
  for (const std::string& setting : all_settings())
    for (const bool skip_grads : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "--memopt " << setting << (skip_grads ? " --skip-grads" : ""));
      const Outcome outcome = run_under(made, options_of(setting, skip_grads, made.network), steps, threads);
      expect_same_outcome(outcome, expected);
      EXPECT_EQ(outcome.taken, outcome.predicted) << "bytes";
      EXPECT_LE(outcome.predicted, expected.predicted + padding) << "beyond what alignment may add to an arena";
    }
}

TEST(SameResult, OfRandomPrograms) {
  for (int seed = 0; seed < random_programs(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const auto random = static_cast<std::uint64_t>(seed);
    const std::string& optimizer = optimizer_names()[random % optimizer_names().size()];
    expect_the_same_under_all_settings(
        with_updates(random_program(random, seed % 4 ? DType::f64 : DType::f32), optimizer), 2);
    if (HasFailure()) return;
  }
}

struct ZooRow {
  const char* model;
  Sets sets = {};
};

class Networks : public ::testing::TestWithParam<ZooRow> {};

TEST_P(Networks, GiveTheSameUnderAllSettings) {
  const ZooRow& row = GetParam();
  const Network network = load_network(row.model, {.batch = 2, .dtype = DType::f32, .training = true}, row.sets);
  expect_the_same_under_all_settings(with_updates(with_backward(network), "momentum"), 5, 2);
}

// Googlenet, small for time's sake, has dropout and branches that are concatenated.
INSTANTIATE_TEST_SUITE_P(Zoo, Networks,
                         ::testing::Values(ZooRow{"lenet"}, ZooRow{"resnet20"},
                                           ZooRow{"googlenet", {{"size", "64"}, {"classes", "10"}}}),
                         [](const auto& info) { return std::string(info.param.model); });

}  // namespace
}  // namespace lethe::testing
