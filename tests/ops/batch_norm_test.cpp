#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/builder.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "tests/support/expect_error.h"
#include "tests/support/interpreter.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

const Attrs kNoEps{{"eps", 0.0}};

TEST(BatchNorm, NormalisesEachChannelByItsBatch) {
  // Channel 0: 1, 3, mean 2, deviation 1. Channel 1: 10, 30, mean 20, deviation 10.
  const Tensor x{{2, 2}, {1, 10, 3, 30}}, scale{{2}, {2, 3}}, bias{{2}, {0.5, -1}};
  EXPECT_EQ(run_op("batch_norm", {x, scale, bias}, kNoEps), (Tensor{{2, 2}, {-1.5, -4, 2.5, 2}}));
  EXPECT_EQ(run_op("batch_norm", {x, {}, {}}, kNoEps), (Tensor{{2, 2}, {-1, -1, 1, 1}}));
}

TEST(BatchNorm, AddsEpsToTheVariance) {
  EXPECT_EQ(run_op("batch_norm", {Tensor{{2, 1}, {1, 3}}, {}, {}}, {{"eps", 3.0}}), (Tensor{{2, 1}, {-0.5, 0.5}}));
}

TEST(BatchNorm, InferenceTakesTheGivenStatistics) {
  const Tensor x{{2, 1}, {1, 5}}, scale{{1}, {2}}, bias{{1}, {10}}, mean{{1}, {1}}, var{{1}, {4}};
  EXPECT_EQ(run_op("batch_norm_inference", {x, scale, bias, mean, var}, kNoEps), (Tensor{{2, 1}, {10, 14}}));
}

/// Mean, variance and y of the first channel of a normalised f32 tensor, against sums in double.
TEST(BatchNorm, KeepsItsPrecisionFarFromZero) {
  const Shape shape{16, 40, 40, 5};
  Program program;
  const VarId x = add_var(program, {.name = "x", .shape = shape, .kind = Kind::Input});
  const auto out = append_op(program, 0, Role::Forward, "batch_norm", {x, kNone, kNone}, kNoEps, "bn");
  Interpreter values(program, {.threads = 2});
  values.fill_uniform(x, 999, 1001, 1);
  values.run();
  const std::int64_t rows = elements(shape) / 5;
  double mean = 0, var = 0;
  for (std::int64_t r = 0; r < rows; ++r) mean += values.number(x, r * 5) / static_cast<double>(rows);
  for (std::int64_t r = 0; r < rows; ++r)
    var += std::pow(values.number(x, r * 5) - mean, 2) / static_cast<double>(rows);
  EXPECT_NEAR(values.number(out[1], 0), mean, 1000 * 1e-7);
  EXPECT_NEAR(values.number(out[2], 0), var, 1e-6 * var);
  EXPECT_NEAR(values.number(out[0], 0), (values.number(x, 0) - mean) / std::sqrt(var), 1e-4);
}

TEST(BatchNorm, UpdateCountsTheVarianceUnbiased) {
  Program program;
  std::vector<VarId> in;
  for (const char* name : {"running_mean", "running_var", "mean", "var"})
    in.push_back(add_var(program, {.name = name, .shape = {1}, .dtype = DType::f64, .kind = Kind::State}));
  append_update(program, 0, "batch_norm_update", in, {{"momentum", 0.25}, {"count", 5}});
  Interpreter values(program);
  const double start[] = {1, 2, 3, 4};
  for (int i = 0; i < 4; ++i) values.set(in[i], 0, start[i]);
  values.run();
  EXPECT_EQ(values.number(in[0]), 0.75 * 1 + 0.25 * 3);
  EXPECT_EQ(values.number(in[1]), 0.75 * 2 + 0.25 * (4 * 5.0 / 4));
}

std::vector<std::string> op_types(const Program& program) {
  std::vector<std::string> types;
  for (const Op& op : program.blocks[0].ops) types.push_back(op.type);
  return types;
}

TEST(BatchNorm, LayerMakesParametersAndStatistics) {
  Builder net({.batch = 4});
  net.layer("bn", net.input("image", {5, 5, 3}));
  const Network network = net.finish();
  verify(network.program);
  EXPECT_EQ(op_types(network.program), (std::vector<std::string>{"batch_norm", "batch_norm_update"}));
  EXPECT_EQ(network.program.blocks[0].ops[1].role, Role::Optimize);
  EXPECT_EQ(network.program.blocks[0].ops[1].attrs.integer("count"), 100);
  ASSERT_EQ(network.params.size(), 4u);
  const double initial[] = {1, 0, 0, 1};  // weight, bias, running mean, running variance
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(network.params[i].init.value, initial[i]);
    EXPECT_FALSE(network.params[i].decay);
  }
}

TEST(BatchNorm, EvaluationReadsRunningStatistics) {
  Builder net({.batch = 1, .training = false});
  net.layer("bn", net.input("features", {3}), {{"affine", false}});
  EXPECT_EQ(op_types(net.program()), (std::vector<std::string>{"batch_norm_inference"}));
  EXPECT_EQ(net.parameters(), 0);
}

TEST(BatchNorm, IsStillIfItsParametersOrItsStatisticsAreFrozen) {
  const auto types = [](const std::set<std::string>& frozen, bool affine) {
    Builder net({.batch = 4, .frozen = frozen});
    net.layer("bn", net.input("features", {3}), {{"affine", affine}}, "n");
    return op_types(net.program());
  };
  const std::vector<std::string> moving = {"batch_norm", "batch_norm_update"}, still = {"batch_norm_inference"};
  EXPECT_EQ(types({"n.weight"}, true), moving);
  EXPECT_EQ(types({"n.weight", "n.bias"}, true), still);
  EXPECT_EQ(types({"n.running_mean", "n.running_var"}, true), still);
  EXPECT_EQ(types({"n.running_mean", "n.running_var"}, false), still);
  EXPECT_EQ(types({"m.running_mean", "m.running_var"}, false), moving);
  EXPECT_TRUE(
      fails_with("of running_mean and running_var only one is frozen", [&] { types({"n.running_var"}, true); }));
}

TEST(BatchNorm, StillItReadsForItsGradientOnlyWhatItsParametersNeed) {
  const auto gradient = [](const std::set<std::string>& frozen) {
    Builder net({.batch = 4, .frozen = frozen});
    const VarId x = net.layer("fc", net.input("features", {3}), {{"out", 3}}, "below");
    net.loss("mse", net.layer("bn", x, {}, "n"), net.input("target", {3}));
    Network network = net.finish();
    append_backward(network.program, network.loss, {}, kNone, network.frozen);
    std::istringstream lines(to_text(network.program));
    for (std::string line; std::getline(lines, line);)
      if (line.find("= batch_norm") != std::string::npos && line.ends_with(" backward")) return line;
    return std::string();
  };
  EXPECT_EQ(gradient({"n.weight", "n.bias"}),
            "  below.y@GRAD = batch_norm_inference(n.y@GRAD, n.weight, _, _, n.running_var) {eps=1e-05} backward");
  EXPECT_EQ(gradient({"n.running_mean", "n.running_var"}),
            "  below.y@GRAD, n.weight@GRAD, n.bias@GRAD = batch_norm_grad(below.y, n.weight, n.running_mean, "
            "n.running_var, n.y@GRAD) {eps=1e-05, fixed=1} backward");
}

// Figures of tests/oracles/frozen_norm.py.
TEST(BatchNorm, StillItGivesTheGradientsOfPyTorch) {
  Builder net({.batch = 4, .dtype = DType::f64, .frozen = {"n.weight", "n.bias"}});
  const VarId x = net.input("x", {3}), target = net.input("target", {2});
  net.loss("mse", net.layer("bn", net.layer("fc", x, {{"out", 2}}, "below"), {}, "n"), target);
  Network network = net.finish();
  const auto gradients = append_backward(network.program, network.loss, {}, kNone, network.frozen);
  Interpreter values(network.program);
  const char* const kNames[] = {"below.weight",   "below.bias",    "n.weight", "n.bias",
                                "n.running_mean", "n.running_var", "x",        "target"};
  for (int first = 1; const char* const name : kNames) {
    const VarId var = find_var(network.program, name);
    for (std::int64_t i = 0; i < elements(network.program.vars[var].shape); ++i) {
      const double made = std::sin(first + i);
      values.set(var, i, var == find_var(network.program, "n.running_var") ? made * made : made);
    }
    ++first;
  }
  values.run();
  EXPECT_NEAR(values.number(network.loss), 2.7698369228873796, 1e-13);
  const std::vector<double> weight = {0.12265129097071575, 0.3427677354040312,  0.2477451046612811,
                                      -0.6120859521203448, -1.5705974930576707, -1.0851089420592133};
  const std::vector<double> bias = {-0.007059148457381703, 1.754982512397937};
  ASSERT_EQ(gradients.size(), 2U);
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_NEAR(values.number(gradients[0].grad, i), weight[i], 1e-13) << i;
  for (std::int64_t i = 0; i < 2; ++i) EXPECT_NEAR(values.number(gradients[1].grad, i), bias[i], 1e-13) << i;
}

TEST(BatchNorm, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("batch_norm", {{2, 3}, {4}, {3}}, kNoEps), "batch_norm: scale is f32[4], expected f32[3]");
  EXPECT_EQ(complaint("batch_norm", {{2, 3}, {3}, {3}}, kNoEps, {{2, DType::f64}}),
            "batch_norm: bias is f64[3], expected f32[3]");
  EXPECT_EQ(complaint("batch_norm", {{3}, {3}, {3}}, kNoEps), "batch_norm: input [3] has no axis besides the channels");
  EXPECT_EQ(complaint("batch_norm_update", {{3}, {3}, {3}, {3}}, {{"count", 1}, {"momentum", 0.1}}),
            "batch_norm: 1 value a channel; the variance of a batch needs at least 2");
}

TEST(BatchNorm, GradientSaysWhatDoesNotFit) {
  const auto grad = [](Shape x, Shape scale, Shape mean, Shape var, Shape dy, const std::map<int, DType>& dtypes = {}) {
    return complaint("batch_norm_grad", {x, scale, mean, var, dy}, kNoEps, dtypes);
  };
  EXPECT_EQ(grad({2, 3}, {3}, {3}, {3}, {2, 3}), "");
  EXPECT_EQ(grad({2, 3}, {2}, {3}, {3}, {2, 3}), "batch_norm_grad: scale is f32[2], expected f32[3]");
  EXPECT_EQ(grad({2, 3}, {3}, {4}, {4}, {2, 3}), "batch_norm_grad: mean is f32[4], expected f32[3]");
  EXPECT_EQ(grad({2, 3}, {3}, {3}, {1}, {2, 3}), "batch_norm_grad: var is f32[1], expected f32[3]");
  EXPECT_EQ(grad({2, 3}, {3}, {3}, {3}, {3, 2}), "batch_norm_grad: dy is f32[3,2], expected f32[2,3]");
  EXPECT_EQ(grad({}, {}, {}, {}, {}), "batch_norm_grad: x is a scalar");
  EXPECT_EQ(grad({2, 3}, {3}, {3}, {3}, {2, 3}, {{4, DType::f64}}),
            "batch_norm_grad: dy is f64[2,3], expected f32[2,3]");
  EXPECT_EQ(grad({2, 3}, {3}, {3}, {3}, {2, 3}, {{2, DType::f64}}), "batch_norm_grad: mean is f64[3], expected f32[3]");
  EXPECT_EQ(complaint("batch_norm_join_grad", {{2, 3}, {3}, {3}, {3}, {2, 3}, {3, 2}}, kNoEps),
            "batch_norm_join_grad: y is f32[3,2], expected f32[2,3]");
}

TEST(BatchNorm, InferenceAndUpdateSayWhatDoesNotFit) {
  EXPECT_EQ(complaint("batch_norm_inference", {{2, 3}, {3}, {3}, {3}, {3}}, kNoEps, {{4, DType::f64}}),
            "batch_norm_inference: running_var is f64[3], expected f32[3]");
  EXPECT_EQ(complaint("batch_norm_update", {{3}, {3}, {2}, {3}}, {{"count", 4}, {"momentum", 0.1}}),
            "batch_norm_update: mean is f32[2], expected f32[3]");
}

}  // namespace
}  // namespace lethe::testing
