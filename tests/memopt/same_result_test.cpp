// Bit-identical results across memory settings: what the memory stage promises.
#include "tests/memopt/same_result.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "framework/error.h"
#include "models/network.h"
#include "optimizer/optimizer.h"
#include "tests/support/loop_networks.h"
#include "tests/support/random_control.h"
#include "tests/support/random_training.h"

namespace lethe::testing {
namespace {

/// What the tests below are not to miss.
TEST(RandomPrograms, HaveDropoutHeadsWithoutLogitsAdaptersAndParametersWithSeveralReaders) {
  int drop = 0, share = 0, heads = 0, adapters = 0, of_rows = 0;
  for (const int seed : random_seeds()) {
    const Network network = random_program(static_cast<std::uint64_t>(seed)).network;
    const Program& program = network.program;
    for (const Adapter& adapter : network.adapters) ++(adapter.first > 0 ? of_rows : adapters);
    std::map<VarId, int> readers;  // of weights, among forward ops
    for (const Op& op : program.blocks[0].ops) {
      drop += op.type == "dropout";
      heads += op.type == "linear_cross_entropy_and_grad";
      if (op.role == Role::Forward && (op.type == "conv2d" || op.type == "fc")) ++readers[op.in[1]];
    }
    for (const auto& [weight, count] : readers) share += count > 1;
  }
  EXPECT_GT(drop, 0);
  EXPECT_GT(share, 0);
  EXPECT_GT(heads, 0);
  EXPECT_GT(adapters, 0);
  EXPECT_GT(of_rows, 0);
}

using RandomProgram = TrainingProgram (*)(std::uint64_t seed, DType dtype);

TrainingProgram updated(RandomProgram random_network, int seed) {
  const auto random = static_cast<std::uint64_t>(seed);
  constexpr DType kDTypes[] = {DType::f32, DType::f64, DType::bf16, DType::f64, DType::f16};
  return with_updates(random_network(random, kDTypes[seed % std::size(kDTypes)]), random_rule(random));
}

TEST(RandomPrograms, HaveParametersAndStatesInFewBits) {
  for (const RandomProgram random_network : {random_program, random_control_program}) {
    int blocks = 0, low = 0, states = 0, of_low = 0;  // frozen, trained, states, states of what is trained in bf16
    int narrow = 0;                                   // gradients
    for (const int seed : random_seeds()) {
      const TrainingProgram made = updated(random_network, seed);
      const std::vector<Var>& vars = made.network.program.vars;
      std::set<std::string> trained_low;
      for (const ParamGrad& pair : made.grads) {
        if (const Var& var = vars[pair.param]; var.dtype == DType::bf16) trained_low.insert(var.name);
        const DType dtype = vars[pair.grad].dtype;
        narrow += wide_of(dtype) != dtype;
      }
      for (const Var& var : vars) {
        blocks += var.kind == Kind::Param && is_in_blocks(var.dtype);
        if (var.kind != Kind::State || !is_in_blocks(var.dtype)) continue;
        ++states;
        of_low += trained_low.contains(var.name.substr(0, var.name.rfind('@')));
      }
      low += static_cast<int>(trained_low.size());
    }
    EXPECT_GT(narrow, 0);
    EXPECT_GT(blocks, 0);
    EXPECT_GT(low, 0);
    EXPECT_GT(states, 0);
    EXPECT_GT(of_low, 0);
  }
}

void expect_the_same_of(RandomProgram random_network) {
  for (const int seed : random_seeds()) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    expect_the_same_under_all_settings(updated(random_network, seed), 2);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(SameResult, OfRandomPrograms) { expect_the_same_of(random_program); }

TEST(SameResult, OfRandomProgramsWithLoopsAndBranches) { expect_the_same_of(random_control_program); }

TEST(SameResult, OfRandomProgramsThatWriteToArraysAgain) {
  int accepted = 0;
  for (const int seed : random_seeds(15 + random_programs() / 20)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    TrainingProgram made;
    try {
      made = with_backward(random_rewriting_network(static_cast<std::uint64_t>(seed)));
    } catch (const Error&) {
      continue;  // something is written again that backward reads
    }
    ++accepted;
    expect_the_same_under_all_settings(with_updates(std::move(made), "momentum"), 2);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(accepted, 3);
}

class LoopNetworks : public ::testing::TestWithParam<LoopNetwork> {};

TEST_P(LoopNetworks, GiveTheSameUnderAllSettings) {
  for (const DType dtype : {DType::f32, DType::bf16})
    expect_the_same_under_all_settings(with_updates(with_backward(GetParam().build(dtype)), "momentum"), 3);
}

INSTANTIATE_TEST_SUITE_P(Nestings, LoopNetworks, ::testing::ValuesIn(loop_networks()),
                         [](const auto& info) { return info.param.name; });

TEST_P(LoopNetworks, KeepWhatIsPinnedInABlock) {
  const TrainingProgram made = with_updates(with_backward(GetParam().build(DType::f32)), "momentum");
  const Given given = given_to(made.network, 2);
  const std::vector<Var>& vars = made.network.program.vars;
  for (std::size_t v = 0; v < vars.size(); ++v) {
    if (vars[v].block == 0 || vars[v].kind != Kind::Temp) continue;
    SCOPED_TRACE(vars[v].name);
    for (const char* setting : {"level=1,inplace", "level=2"}) {
      MemoptOptions options = options_of(setting, false, made.network);
      options.pins.skip_vars = {vars[v].name};
      run_under(made, options, given, 1);
    }
    if (HasFailure()) return;
  }
}

struct ZooRow {
  const char* model;
  Sets sets = {};
};

constexpr int kSteps = 2;  // after the second nothing new happens to memory
const std::vector<ZooRow> kNetworks = {
    {"lenet"},
    {"resnet20"},
    {"mlp", {{"hidden", "2944"}}},                        // updates compute the gradient of a weight of 33 MiB
    {"googlenet", {{"size", "64"}, {"classes", "10"}}}};  // small; has dropout and branches that are concatenated

class Networks : public ::testing::TestWithParam<ZooRow> {};

TEST_P(Networks, GiveTheSameUnderAllSettings) {
  const ZooRow& row = GetParam();
  const Network network = load_network(row.model, {.batch = 2, .dtype = DType::f32, .training = true}, row.sets);
  expect_the_same_under_all_settings(with_updates(with_backward(network), "momentum"), kSteps, 2);
}

/// Without which the row above would say nothing of them.
TEST(LargeMlp, HasUpdatesThatComputeTheirGradient) {
  const Network network =
      load_network("mlp", {.batch = 2, .dtype = DType::f32, .training = true}, {{"hidden", "2944"}});
  Prepared prepared({});
  for (const char* const level : {"level=2", "level=3"}) {
    const Program planned = plan_memory(with_updates(with_backward(network), "momentum").network.program, prepared,
                                        options_of(level, false, network))
                                .program;
    EXPECT_TRUE(std::any_of(planned.blocks[0].ops.begin(), planned.blocks[0].ops.end(), [](const Op& op) {
      return op.type == "matmul_momentum";
    })) << level;
  }
}

/// Both products with the weights of two layers go by blocks of columns.
TEST(LargeMlp, InLowFloatsGivesTheSameWithoutCopiesOfItsWeights) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Network network = load_network("mlp", {.batch = 2, .dtype = dtype, .training = true}, {{"hidden", "1400"}});
    const TrainingProgram trained = with_updates(with_backward(network), "momentum");
    expect_the_same_under_all_settings(trained, 2, 2);
    Prepared prepared({});
    const Program planned =
        plan_memory(trained.network.program, prepared, options_of("level=2", false, network)).program;
    const auto reads_f32 = [&](const Op& op) {
      return (op.type == "fc" || op.type == "matmul") && planned.vars[op.in[0]].dtype == dtype &&
             planned.vars[op.in[1]].dtype == DType::f32;
    };
    EXPECT_EQ(std::count_if(planned.blocks[0].ops.begin(), planned.blocks[0].ops.end(), reads_f32), 3)
        << "two layers forward, one backward";
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, Networks, ::testing::ValuesIn(kNetworks),
                         [](const auto& info) { return std::string(info.param.model); });

}  // namespace
}  // namespace lethe::testing
