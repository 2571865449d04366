#include "memopt/passes/fuse_products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "memopt/options.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

const std::string kForwardOfLayer = "  v = exp(k)\n  x = exp(j)\n  d = exp(i) backward\n";
const std::string kDWeight = "  c = matmul(d, x) {transpose_a=1} backward\n";
const std::string kDBias = "  b = bias_grad(d) backward\n";
const std::string kWeightAndBias = "  c, b = matmul(d, x) {sums_of_a=1, transpose_a=1} backward\n";
const std::string kDx = "  h = matmul(d, w) backward\n";
const std::string kRowsOfDx = "  r = reshape(h) {shape=[2,3,8]} backward\n";
const std::string kGeluGradient = "  g = gelu_grad(v, r) {approximate=\"tanh\"} backward\n";
const std::string kLastView = "  l = reshape(g) {shape=[6,8]} backward\n";
const std::string kGeluBackward = kDx + kRowsOfDx + kGeluGradient + kLastView;

/// Of a layer of 4 outputs of six rows, before which stands a gelu of 8: d is the gradient of the layer's outputs; x
/// and v stand for its inputs and for those of gelu; c and b are the gradients of weight and bias, h and g what gelu's
/// gradient reads and gives.
struct LayerTypes {
  std::string all = "bf16", weight = all, bias = weight;
};
Program layer_of(const std::string& ops, const LayerTypes& of = {}) {
  std::string text;
  const auto declare = [&](const std::string& names, const std::string& type) {
    for (const char name : names)
      text += (std::string("ijkw").find(name) == std::string::npos ? "temp " : "input ") + std::string(1, name) + " " +
              type + "\n";
  };
  declare("id", of.all + "[6,4]");
  declare("jx", of.all + "[6,5]");
  declare("kvrg", of.all + "[2,3,8]");
  declare("hls", of.all + "[6,8]");
  declare("wf", of.all + "[4,8]");
  text += "param z int8[4,8]\n";
  declare("ct", of.weight + "[4,5]");
  declare("be", of.bias + "[4]");
  return parse_program(text + "block 0 {\n" + ops + "}\n");
}

Program with_fused_products(const Program& program, const PinOptions& pins = {}) {
  Program made = fuse_products(program, collect_pins(program, pins));
  verify(made);
  return made;
}

TEST(FuseProducts, TheGradientOfAWeightGivesThatOfTheBias) {
  EXPECT_EQ(with_fused_products(layer_of(kForwardOfLayer + kDWeight + kDBias)),
            layer_of(kForwardOfLayer + kWeightAndBias));
  const LayerTypes wide{.weight = "f32"};
  EXPECT_EQ(
      with_fused_products(layer_of(kForwardOfLayer + "  c = matmul(d, x) {transpose_a=1, wide_output=1} backward\n" +
                                       "  b = bias_grad(d) {wide_output=1} backward\n",
                                   wide)),
      layer_of(kForwardOfLayer + "  c, b = matmul(d, x) {sums_of_a=1, transpose_a=1, wide_output=1} backward\n", wide));
}

/// As where parts of a batch are summed, and ranks exchange gradients: what follows is the same on all of them.
TEST(FuseProducts, WhatReadsTheGradientOfTheWeightBeforeDoesNotMatter) {
  const std::string reader = "  t = exp(c) backward\n";
  EXPECT_EQ(with_fused_products(layer_of(kForwardOfLayer + kDWeight + reader + kDBias)),
            layer_of(kForwardOfLayer + kWeightAndBias + reader));
}

TEST(FuseProducts, NoMemorySettingDecides) {
  const Program program = layer_of(kForwardOfLayer + kDWeight + kDBias + kGeluBackward);
  const Program plain = with_fused_products(program);
  ASSERT_NE(plain, program);
  for (const char* const skipped : {"h", "r", "g", "c", "b"})
    EXPECT_EQ(with_fused_products(program, {.skip_vars = {skipped}}), plain) << skipped;
}

TEST(FuseProducts, AProductGivesTheGradientOfGelusInput) {
  EXPECT_EQ(with_fused_products(layer_of(kForwardOfLayer + kGeluBackward)),
            layer_of(kForwardOfLayer + "  h = matmul(d, w, v) {gelu_grad=1} backward\n" + kRowsOfDx +
                     "  g = reshape(r) {shape=[2,3,8]} backward\n" + kLastView));
}

TEST(FuseProducts, ComputesWhatTheOpsDoOneByOne) {
  for (const char* const dtype : {"bf16", "f16"}) {
    const Program plain = layer_of(kForwardOfLayer + kDWeight + kDBias + kGeluBackward, {dtype}),
                  made = with_fused_products(plain);
    ASSERT_EQ(made.blocks[0].ops.size(), plain.blocks[0].ops.size() - 1);
    Interpreter before(plain), after(made);
    for (Interpreter* values : {&before, &after}) {
      std::uint64_t stream = 0;
      for (const char* name : {"i", "j", "k", "w"}) values->fill_uniform(find_var(plain, name), -2, 1, ++stream);
      values->run();
    }
    for (const char* name : {"c", "b", "l"}) {
      const Guarded &a = before.memory(find_var(plain, name)), &b = after.memory(find_var(plain, name));
      EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())), 0) << dtype << ", " << name;
    }
  }
}

TEST(FuseProducts, LeavesWhatCublasLtDoesNotDoBeside) {
  const auto stays = [](const std::string& ops, const LayerTypes& of = {}, const PinOptions& pins = {}) {
    SCOPED_TRACE(ops);
    const Program program = layer_of(ops, of);
    EXPECT_EQ(with_fused_products(program, pins), program);
  };
  stays(kForwardOfLayer + kDBias + kDWeight);
  stays(kForwardOfLayer + kDWeight + "  b = bias_grad(d) {wide_output=1} backward\n", {.bias = "f32"});
  stays(kForwardOfLayer + kDWeight + kDBias, {"f32"});
  stays(kForwardOfLayer + kGeluBackward, {"f32"});
  stays(kForwardOfLayer + kDx + kRowsOfDx + "  g = gelu_grad(v, r) backward\n" + kLastView);
  stays(kForwardOfLayer + kGeluBackward + "  s = exp(h) backward\n");
  stays("  d = exp(i)\n" + kDx + kRowsOfDx + "  v = exp(k) backward\n" + kGeluGradient + kLastView);
  Program narrow = layer_of(kForwardOfLayer + kGeluBackward);  // rows of gelu of no whole packs
  for (Var& var : narrow.vars) std::ranges::replace(var.shape, 8, 7);
  for (Op& op : narrow.blocks[0].ops)
    if (op.type == kReshape) op.attrs.set("shape", narrow.vars[op.out[0]].shape);
  verify(narrow);
  EXPECT_EQ(with_fused_products(narrow), narrow);
  Program in_blocks = layer_of(kForwardOfLayer + "  f = cast(z) {dtype=\"bf16\"}\n" + kGeluBackward);
  for (Op& op : in_blocks.blocks[0].ops)
    if (op.type == "matmul") op.in[1] = find_var(in_blocks, "f");
  verify(in_blocks);
  EXPECT_EQ(with_fused_products(in_blocks), in_blocks);
  const Program fetched = layer_of(kForwardOfLayer + kGeluBackward);
  EXPECT_EQ(with_fused_products(fetched, {.fetched = {find_var(fetched, "h")}}), fetched);
}

TEST(FuseProducts, OneProductSumsOnce) {
  Program twice = layer_of(kForwardOfLayer + kDWeight + kDBias);
  Op again = twice.blocks[0].ops.back();
  again.out[0] = find_var(twice, "e");
  twice.blocks[0].ops.push_back(again);
  const Program made = with_fused_products(twice);
  EXPECT_EQ(made.blocks[0].ops[3].type, "matmul");
  EXPECT_EQ(made.blocks[0].ops[4], again);
}

TEST(FuseProducts, IsForGpus) {
  EXPECT_TRUE(suited({}, {.kind = DeviceKind::Cuda}).fuse_products);
  EXPECT_FALSE(suited({.level = Level::Arena}, {}).fuse_products);
}

}  // namespace
}  // namespace lethe::testing
