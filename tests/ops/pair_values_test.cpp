// Functions of two values or more, at single values: what they give there, and what they refuse.
#include <gtest/gtest.h>

#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

TEST(Pow, HasNoNanInItsGradientWhereThePowerIsConstant) {
  const Attrs zero{{"exponent", 0.0}};
  EXPECT_EQ(run_op("pow", {{{1}, {0}}}, zero).values[0], 1);
  EXPECT_EQ(run_op("pow_of_exponent_grad", {{{1}, {0}}, {{1}, {1}}}, zero).values[0], 0);
  EXPECT_EQ(run_op("pow_base_grad", {{{1}, {0}}, {{1}, {0}}, {{1}, {1}}}).values[0], 0);
  EXPECT_EQ(run_op("pow_exponent_grad", {{{1}, {0}}, {{1}, {2}}, {{1}, {1}}}).values[0], 0);
}

TEST(Pow, LayerTakesASecondInputOrAnExponent) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {3});
  const auto emitted = [&](const Attrs& settings) {
    net.layer("pow", x, settings);
    return net.program().blocks[0].ops.back().type;
  };
  EXPECT_EQ(emitted({{"exponent", 2}}), "square");
  EXPECT_EQ(emitted({{"exponent", 0.5}}), "sqrt");
  EXPECT_EQ(emitted({{"exponent", 3}}), "pow");
  EXPECT_TRUE(fails_with("pow: give a second input or an exponent", [&] { net.layer("pow", x); }));
  EXPECT_TRUE(fails_with("pow: give a second input or an exponent, not both", [&] {
    net.layer("pow", {x, x}, {{"exponent", 3}});
  }));
}

TEST(Mod, HasTheSignOfTheFirst) {
  EXPECT_EQ(run_op("mod", {{{4}, {7, -7, 7, -7}}, {{4}, {3, 3, -3, -3}}}), (Tensor{{4}, {1, -1, 1, -1}}));
  EXPECT_EQ(run_op("mod_grad", {{{2}, {7, -7}}, {{}, {3}}, {{2}, {1, 10}}}), (Tensor{{2}, {-2, 20}}));
}

TEST(Prelu, HasAWeightForEachChannelOrOneForAll) {
  EXPECT_EQ(run_op("prelu", {{{2, 2}, {-1, -2, 3, -4}}, {{2}, {0.5, -1}}}), (Tensor{{2, 2}, {-0.5, 2, 3, 4}}));
  EXPECT_EQ(run_op("prelu", {{{2, 2}, {-1, -2, 3, -4}}, {{1}, {0.5}}}), (Tensor{{2, 2}, {-0.5, -1, 3, -2}}));
  EXPECT_EQ(complaint("prelu", {{2, 3}, {2}}), "prelu: weight is f32[2], expected f32[1] or [3]");
  Builder net({.batch = 2});
  const VarId image = net.input("image", {4, 5, 3});
  net.layer("prelu", image, {}, "each");
  net.layer("prelu", image, {{"per", "all"}}, "one");
  EXPECT_TRUE(fails_with("prelu: the input [2] has no channels", [&] { net.layer("prelu", net.input("n", {})); }));
  const Network network = net.finish();
  EXPECT_EQ(network.program.vars[network.params[0].var].name, "each.weight");
  EXPECT_EQ(network.program.vars[network.params[0].var].shape, Shape{3});
  EXPECT_EQ(network.program.vars[network.params[1].var].shape, Shape{1});
  EXPECT_EQ(network.params[0].init.value, 0.25);
  EXPECT_FALSE(network.params[0].decay);
}

TEST(Where, TakesTheOneOrTheOther) {
  const Tensor cond{{2, 2}, {0, 1, 2, 0}, DType::u8}, column{{1, 2}, {1, 0}, DType::u8};
  EXPECT_EQ(run_op("where", {cond, counted({2, 2}), {{2, 2}, {-1, -2, -3, -4}}}), (Tensor{{2, 2}, {-1, 2, 3, -4}}));
  EXPECT_EQ(run_op("where", {column, counted({2, 2}), {{}, {-9}}}), (Tensor{{2, 2}, {1, -9, 3, -9}}));
  EXPECT_EQ(run_op("where", {cond, {{}, {5}}, {{}, {6}}}), (Tensor{{2, 2}, {6, 5, 5, 6}}));
  EXPECT_EQ(run_op("where", {cond, {{}, {}}, counted({2, 2})}), (Tensor{{2, 2}, {1, 0, 0, 4}}));
  EXPECT_EQ(complaint("where", {{2}, {2}, {2}}), "where: cond is f32[2], expected u8");
  EXPECT_EQ(complaint("where", {{2}, {3}, {3}}, {}, {{0, DType::u8}}), "where: cond [2] does not broadcast to [3]");
  EXPECT_EQ(complaint("where", {{2}, {2}, {3}}, {}, {{0, DType::u8}}), "where: a is f32[2], expected f32[3]");
  EXPECT_EQ(complaint("where", {{2}, {2}, {2}}, {}, {{0, DType::u8}, {1, DType::i32}}),
            "where: b is f32[2], expected i32[2]");
}

}  // namespace
}  // namespace lethe::testing
