#include "framework/autodiff/join_gradients.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "framework/builder/builder.h"
#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

constexpr const char *kLoss = "linear_cross_entropy", *kGradient = "linear_cross_entropy_grad",
                     *kBoth = "linear_cross_entropy_and_grad";

/// Two heads on one layer, with a loss of other weight in the second.
Network two_heads(DType dtype = DType::f64) {
  Builder net({.batch = 4, .dtype = dtype});
  const VarId x = net.layer("fc", net.input("x", {3}), {{"out", 6}}, "body");
  const VarId a = net.input("a", {}, DType::i32), b = net.input("b", {}, DType::i32);
  net.loss("linear_cross_entropy", x, a, {.name = "first", .layer = {{"out", 5}}});
  net.loss("linear_cross_entropy", x, b, {.weight = 0.5, .name = "second", .layer = {{"out", 7}, {"bias", 1}}});
  return net.finish();
}

std::int64_t number_of(const Program& program, const std::string& type) {
  const std::vector<Op>& ops = program.blocks[0].ops;
  return std::count_if(ops.begin(), ops.end(), [&](const Op& op) { return op.type == type; });
}

TEST(JoinGradients, LossAndGradientOfAHeadAreOneOp) {
  Network network = two_heads();
  append_backward(network.program, network.loss);
  verify(network.program);
  EXPECT_EQ(number_of(network.program, kBoth), 2);
  EXPECT_EQ(number_of(network.program, kLoss) + number_of(network.program, kGradient), 0);
}

TEST(JoinGradients, WhatFollowsFromALossStandsAfterItAndIsNoForwardOp) {
  Network network = two_heads();
  append_backward(network.program, network.loss);
  bool turned = false;
  for (const Op& op : network.program.blocks[0].ops) {
    turned = turned || op.role == Role::Backward;
    EXPECT_EQ(op.role == Role::Forward, !turned) << op.type;
  }
}

/// With a loss that its gradient follows from, too: its square.
Network squared_loss() {
  Builder net({.batch = 4, .dtype = DType::f64});
  const VarId x = net.input("x", {3}), label = net.input("label", {}, DType::i32);
  const VarId loss = net.layer("linear_cross_entropy", {x, label}, {{"out", 5}}, "head");
  const VarId zero = net.layer("scale", loss, {{"a", 0.0}});
  net.loss("mse", loss, zero);
  return net.finish();
}

TEST(JoinGradients, ALossWhoseGradientFollowsFromItIsComputedFirst) {
  Network network = squared_loss();
  append_backward(network.program, network.loss);
  EXPECT_EQ(number_of(network.program, kLoss), 1);
  EXPECT_EQ(number_of(network.program, "linear_cross_entropy_weight_grad"), 1) << "x is an input";
  EXPECT_EQ(number_of(network.program, "linear_cross_entropy_and_weight_grad"), 0);
}

TEST(JoinGradients, OfAWeightInLowFloatsThereIsOneCopy) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    Network network = two_heads(dtype);
    const std::vector<ParamGrad> gradients = append_backward(network.program, network.loss);
    verify(network.program);
    const auto copies_of = [&](const std::string& name) {
      const std::vector<Op>& ops = network.program.blocks[0].ops;
      return std::count_if(ops.begin(), ops.end(), [&](const Op& op) {
        return op.type == kCast && network.program.vars[op.in[0]].name == name;
      });
    };
    EXPECT_EQ(copies_of("first.weight"), 1);
    EXPECT_EQ(copies_of("second.weight"), 1);
    for (const ParamGrad& pair : gradients) {
      EXPECT_EQ(network.program.vars[pair.grad].dtype, DType::f32);
      EXPECT_EQ(network.program.vars[pair.grad].shape, network.program.vars[pair.param].shape);
    }
  }
}

}  // namespace
}  // namespace lethe::testing
