// Functions of ONNX and PyTorch at single values: what they give there, and at their edges.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double at(const std::string& op, double x, const Attrs& attrs = {}) {
  return run_op(op, {{{1}, {x}}}, attrs).values[0];
}
double gradient_at(const std::string& op, double seen, const Attrs& attrs = {}) {
  return run_op(op + "_grad", {{{1}, {seen}}, {{1}, {1}}}, attrs).values[0];
}

/// By PyTorch 2.
TEST(FunctionValues, AreThoseOfPyTorch) {
  EXPECT_NEAR(at("erf", 0.5), 0.5204998778130465, 1e-15);
  EXPECT_NEAR(at("mish", 1), 0.8650983882673103, 1e-15);
  EXPECT_NEAR(at("mish", -20), -4.12230724e-08, 1e-16);
  EXPECT_EQ(at("mish", 1000), 1000);
  EXPECT_EQ(at("softsign", -3), -0.75);
  EXPECT_EQ(at("reciprocal", -4), -0.25);
  EXPECT_NEAR(at("silu", 1, {{"alpha", 2.0}}), 0.8807970779778823, 1e-15);
  EXPECT_NEAR(at("hard_swish", 1), 2 / 3., 1e-15);
  EXPECT_EQ(at("hard_swish", -4), 0);
  EXPECT_EQ(at("hard_swish", 4), 4);
  const Attrs hard{{"alpha", 0.25}, {"beta", 0.5}};
  EXPECT_EQ(at("hard_sigmoid", 1, hard), 0.75);
  EXPECT_EQ(at("hard_sigmoid", -3, hard), 0);
  EXPECT_EQ(at("hard_sigmoid", 3, hard), 1);
}

TEST(FunctionValues, GradientsAreZeroOnTheirBounds) {
  const Attrs hard{{"alpha", 0.25}, {"beta", 0.5}}, shrink{{"bias", 0.5}, {"lambd", 0.5}};
  EXPECT_EQ(gradient_at("hard_sigmoid", 0, hard), 0);
  EXPECT_EQ(gradient_at("hard_sigmoid", 0.5, hard), 0.25);
  EXPECT_EQ(gradient_at("hard_sigmoid", 1, hard), 0);
  EXPECT_EQ(gradient_at("shrink", -0.5, shrink), 0);
  EXPECT_EQ(gradient_at("shrink", 0.75, shrink), 1);
  EXPECT_EQ(gradient_at("hard_swish", 3, {}), 1);
  EXPECT_EQ(gradient_at("mish", 1000, {}), 1);
}

TEST(FunctionValues, OfShrinkAreThoseOfSoftshrinkAndHardshrink) {
  const Attrs soft{{"bias", 0.5}, {"lambd", 0.5}}, hard{{"bias", 0.0}, {"lambd", 0.5}};
  for (const auto& [x, softly, hardly] :
       {std::array{-2.0, -1.5, -2.0}, {-0.5, 0.0, 0.0}, {0.25, 0.0, 0.0}, {0.5, 0.0, 0.0}, {2.0, 1.5, 2.0}}) {
    EXPECT_EQ(at("shrink", x, soft), softly) << x;
    EXPECT_EQ(at("shrink", x, hard), hardly) << x;
  }
}

TEST(FunctionValues, RoundTakesTheEvenOfTwo) {
  for (const auto& [x, rounded] : {std::pair{0.5, 0.0}, {1.5, 2.0}, {2.5, 2.0}, {-0.5, 0.0}, {-1.5, -2.0}, {2.51, 3.0}})
    EXPECT_EQ(at("round", x), rounded) << x;
  EXPECT_EQ(at("floor", -0.5), -1);
  EXPECT_EQ(at("ceil", -1.5), -1);
  EXPECT_EQ(at("sign", -0.25), -1);
  EXPECT_EQ(at("sign", 0), 0);
  EXPECT_EQ(at("sign", kInfinite), 1);
}

/// e^x - 1 near 0 has all its digits, also in f32.
TEST(Elu, IsExactNearZero) {
  const double tiny = -0x1p-20;
  EXPECT_NEAR(run_op("elu", {{{1}, {tiny}, DType::f32}}, {{"alpha", 1.0}}).values[0], std::expm1(tiny), 1e-13);
}

TEST(Elu, ItsGradientReadsYWhereThatTellsTheSign) {
  const auto read = [](const Attrs& settings, const char* layer) {
    Builder net({.batch = 2});
    const VarId x = net.input("x", {3}), learned = net.layer("fc", x, {{"out", 3}});
    const VarId y = net.layer(layer, learned, settings);
    net.loss("mse", y, net.input("target", {3}));
    Network network = net.finish();
    append_backward(network.program, network.loss);
    for (const Op& op : network.program.blocks[0].ops)
      if (op.type == "elu_grad") return op.in[0] == y;
    return false;
  };
  EXPECT_TRUE(read({}, "elu"));
  EXPECT_TRUE(read({}, "selu"));
  EXPECT_TRUE(read({{"alpha", -2.0}}, "celu"));
  EXPECT_FALSE(read({{"alpha", -2.0}}, "elu"));
}

TEST(Elu, SeluAndCeluAreFormsOfIt) {
  Builder net({.batch = 2, .dtype = DType::f64});
  const VarId x = net.input("x", {3});
  net.layer("selu", x);
  net.layer("celu", x, {{"alpha", 0.5}});
  const std::vector<Op>& ops = net.program().blocks[0].ops;
  EXPECT_NEAR(at("elu", -1, ops[0].attrs), -1.1113307378125627, 1e-15);
  EXPECT_NEAR(at("elu", 2, ops[0].attrs), 2.101401974710961, 1e-15);
  EXPECT_NEAR(at("elu", -1, ops[1].attrs), 0.5 * std::expm1(-2), 1e-15);
  EXPECT_TRUE(fails_with("'alpha' of 'celu' is 0", [&] { net.layer("celu", x, {{"alpha", 0.0}}); }));
}

}  // namespace
}  // namespace lethe::testing
