#include "framework/builder/frozen.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/builder.h"
#include "framework/language/core_ops.h"
#include "framework/language/weight_blocks.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

/// Two convolutions with norms, one of them without parameters, and a head.
Network frozen_network(const BuildOptions& options = {.batch = 2}) {
  Builder net(options);
  VarId x = net.layer("conv", net.input("image", {4, 4, 1}), {{"out", 2}, {"k", 3}}, "stem/conv");
  x = net.layer("bn", x, {}, "stem/bn");
  x = net.layer("bn", net.layer("conv", x, {{"out", 2}, {"k", 3}, {"bias", 0}}, "body/conv"), {{"affine", false}},
                "body/bn");
  net.loss("cross_entropy", net.layer("fc", x, {{"out", 3}}, "head"), net.input("label", {}, DType::i32));
  return net.finish();
}

using Names = std::set<std::string>;

TEST(Frozen, PatternsMeanParametersAndRunningStatistics) {
  const Network network = frozen_network();
  EXPECT_EQ(frozen_names(network, {.freeze = "stem/bn.*,head.bias"}),
            (Names{"head.bias", "stem/bn.bias", "stem/bn.running_mean", "stem/bn.running_var", "stem/bn.weight"}));
  EXPECT_EQ(frozen_names(network, {.train_only = "head.*,stem/bn.weight"}),
            (Names{"body/bn.running_mean", "body/bn.running_var", "body/conv.weight", "stem/bn.bias", "stem/conv.bias",
                   "stem/conv.weight"}))
      << "statistics follow the parameters of their layer, and are frozen by name where it has none";
}

TEST(Frozen, SaysWhatCannotBeFrozen) {
  const Network network = frozen_network();
  const auto error = [&](const FrozenSetting& setting) { return error_of([&] { frozen_names(network, setting); }); };
  EXPECT_EQ(error({.freeze = "*"}), "`freeze`: no parameter is left to train");
  EXPECT_EQ(error({.train_only = "body/bn.*"}), "`train_only`: no parameter is left to train");
  EXPECT_EQ(error({.freeze = "haed.*"}), "`freeze`: no parameter is called 'haed.*'; did you mean 'head.*'?");
  EXPECT_EQ(error({.train_only = "head.weigth"}),
            "`train_only`: no parameter is called 'head.weigth'; did you mean 'head.weight'?");
  EXPECT_EQ(error({.freeze = "stem*", .train_only = "head.*"}), "`freeze` and `train_only` exclude each other");
}

TEST(Frozen, TheNetworkSaysWhichParametersAre) {
  const Network network =
      frozen_network({.batch = 2, .frozen = {"stem/bn.weight", "stem/bn.running_mean", "stem/bn.running_var", "no"}});
  Names names;
  for (const VarId v : network.frozen) names.insert(network.program.vars[v].name);
  EXPECT_EQ(names, Names{"stem/bn.weight"});
}

TEST(Frozen, MatricesMayBeInADtypeOfTheirOwn) {
  const Network network = frozen_network(
      {.batch = 2, .frozen = {"head.weight", "head.bias"}, .frozen_dtypes = {{"head.weight", DType::bf16}}});
  const Program& program = network.program;
  const auto dtype = [&](const char* name) { return program.vars[find_var(program, name)].dtype; };
  EXPECT_EQ(dtype("head.weight"), DType::bf16);
  EXPECT_EQ(dtype("head.bias"), DType::f32);
  EXPECT_EQ(dtype("body/conv.weight"), DType::f32);
  const std::vector<Op>& ops = program.blocks[0].ops;
  const auto copy = std::ranges::find(ops, std::string(kCast), &Op::type);
  ASSERT_NE(copy, ops.end());
  EXPECT_EQ(copy->in, std::vector{find_var(program, "head.weight")});
  EXPECT_EQ(program.vars[copy->out[0]].dtype, DType::f32) << "what the layer reads";
}

TEST(Frozen, ProductsGoByBlocksWhereTheirWeightIsInFewerBits) {
  const auto in_blocks = [](DType dtype) {
    Network network =
        frozen_network({.batch = 2, .frozen = {"head.weight"}, .frozen_dtypes = {{"head.weight", dtype}}});
    append_backward(network.program, network.loss, {}, kNone, network.frozen);
    std::vector<std::string> types;
    for (const Op& op : network.program.blocks[0].ops)
      if (op.attrs.flag(kWeightBlocks, false)) types.push_back(op.type);
    return types;
  };
  EXPECT_EQ(in_blocks(DType::bf16), (std::vector<std::string>{"fc", "matmul"}));
  EXPECT_EQ(in_blocks(DType::f32), std::vector<std::string>{});
}

}  // namespace
}  // namespace lethe::testing
