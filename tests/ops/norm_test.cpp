#include <gtest/gtest.h>

#include <cmath>

#include "framework/builder/builder.h"
#include "tests/support/run_layer.h"

namespace lethe::testing {
namespace {

TEST(LayerNorm, NormalisesEachRow) {
  const Tensor x{{2, 2}, {1, 3, 10, 30}}, weight{{2}, {2, 3}}, bias{{2}, {0.5, -1}};
  EXPECT_EQ(run_op("layer_norm", {x, weight, bias}, {{"eps", 0.0}}), (Tensor{{2, 2}, {-1.5, 2, -1.5, 2}}));
}

TEST(LayerNorm, GoesWithoutABias) {
  const Tensor x{{2, 2}, {1, 3, 10, 30}}, weight{{2}, {2, 3}};
  EXPECT_EQ(run_op("layer_norm", {x, weight, {}}, {{"eps", 0.0}}), (Tensor{{2, 2}, {-2, 3, -2, 3}}));
}

TEST(RmsNorm, ScalesEachRow) {
  const Tensor x{{2, 4}, {2, -2, 2, 2, 0, 0, 0, 8}}, weight{{4}, {1, 2, 3, 4}};
  EXPECT_EQ(run_op("rms_norm", {x, weight}, {{"eps", 0.0}}), (Tensor{{2, 4}, {1, -2, 3, 4, 0, 0, 0, 8}}));
  EXPECT_EQ(run_op("rms_norm", {x, weight}, {{"eps", 0.0}}, 1), (Tensor{{2}, {0.5, 0.25}}));
}

TEST(RmsNorm, AddsTheOffsetToTheWeight) {
  const Tensor x{{1, 4}, {2, -2, 2, -2}}, weight{{4}, {0, 1, -0.5, -1}};
  EXPECT_EQ(run_op("rms_norm", {x, weight}, {{"eps", 0.0}, {"offset", 1.0}}), (Tensor{{1, 4}, {1, -2, 0.5, 0}}));
}

TEST(RmsNorm, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("rms_norm", {{2, 3}, {2}}, {{"eps", 1e-5}}), "rms_norm: weight is f32[2], expected f32[3]");
  EXPECT_EQ(complaint("rms_norm", {{2, 3}, {3}}, {{"eps", -1.0}}), "rms_norm: eps is -1, expected at least 0");
}

TEST(LayerNorm, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("layer_norm", {{2, 3}, {3}, {2}}, {{"eps", 1e-5}}),
            "layer_norm: bias is f32[2], expected f32[3]");
  EXPECT_EQ(complaint("layer_norm", {{2, 3}, {3}, {3}}, {{"eps", 1e-5}}, {{1, DType::f64}}),
            "layer_norm: weight is f64[3], expected f32[3]");
}

TEST(LayerNorm, GradientSaysWhatDoesNotFit) {
  const auto grad = [](Shape x, Shape weight, Shape mean, Shape inv_std, Shape dy,
                       const std::map<int, DType>& dtypes = {}) {
    return complaint("layer_norm_grad", {x, weight, mean, inv_std, dy}, {}, dtypes);
  };
  EXPECT_EQ(grad({2, 3}, {3}, {2}, {2}, {2, 3}), "");
  EXPECT_EQ(grad({2, 3}, {2}, {2}, {2}, {2, 3}), "layer_norm_grad: weight is f32[2], expected f32[3]");
  EXPECT_EQ(grad({2, 3}, {3}, {3}, {2}, {2, 3}), "layer_norm_grad: mean is f32[3], expected f32[2]");
  EXPECT_EQ(grad({2, 3}, {3}, {2}, {1}, {2, 3}), "layer_norm_grad: inv_std is f32[1], expected f32[2]");
  EXPECT_EQ(grad({2, 3}, {3}, {2}, {2}, {2, 4}), "layer_norm_grad: dy is f32[2,4], expected f32[2,3]");
  EXPECT_EQ(complaint("layer_norm_grad", {{2, 3}, {3}, {2}, {2}, {2, 3}, {2, 1}}),
            "layer_norm_grad: added is f32[2,1], expected f32[2,3]");
  EXPECT_EQ(complaint("rms_norm_grad", {{2, 3}, {3}, {2}, {2, 3}, {2, 1}}),
            "rms_norm_grad: added is f32[2,1], expected f32[2,3]");
  EXPECT_EQ(grad({}, {}, {}, {}, {}), "layer_norm_grad: x is a scalar");
  EXPECT_EQ(grad({2, 3}, {3}, {2}, {2}, {2, 3}, {{3, DType::f64}}),
            "layer_norm_grad: inv_std is f64[2], expected f32[2]");
}

/// Two positions of four channels.
const Tensor kTwoGroups{{1, 2, 4}, {1, 1, 12, 28, 3, 3, 12, 28}};

TEST(GroupNorm, NormalisesGroupsOfChannelsOverPositions) {
  const Tensor weight{{4}, {1, 2, 3, 4}}, bias{{4}, {0, 0, 0, 1}};
  const Attrs attrs{{"groups", 2}, {"eps", 0.0}};
  EXPECT_EQ(run_op("group_norm", {kTwoGroups, weight, bias}, attrs), (Tensor{{1, 2, 4}, {-1, -2, -3, 5, 1, 2, -3, 5}}));
  EXPECT_EQ(run_op("group_norm", {kTwoGroups, weight, {}}, attrs), (Tensor{{1, 2, 4}, {-1, -2, -3, 4, 1, 2, -3, 4}}));
  EXPECT_EQ(run_op("group_norm", {kTwoGroups, {}, {}}, attrs, 1), (Tensor{{1, 2}, {2, 20}}));
  EXPECT_EQ(run_op("group_norm", {kTwoGroups, {}, {}}, attrs, 2), (Tensor{{1, 2}, {1, 0.125}}));
}

TEST(GroupNorm, NormalisesWhatIsFarFromZero) {
  Tensor x{{2, 50, 2}, {}, DType::f32};
  for (int i = 0; i < 200; ++i) x.values.push_back((i < 100 ? 65536 : -65536) + (i % 4 < 2 ? 0.25 : -0.25));
  const Tensor y = run_op("group_norm", {x, {}, {}}, {{"groups", 1}, {"eps", 0.0}});
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(y.values[i], i % 4 < 2 ? 1 : -1) << i;
}

TEST(GroupNormLayer, HasAWeightAndABiasOfEachChannel) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {4, 5, 6});
  EXPECT_EQ(net.shape(net.layer("GroupNormalization", x, {{"groups", 3}}, "gn")), (Shape{2, 4, 5, 6}));
  EXPECT_EQ(net.shape(net.layer("instance_norm", x, {{"affine", 0}}, "in")), (Shape{2, 4, 5, 6}));
  const Program& program = net.program();
  for (const char* name : {"gn.weight", "gn.bias"})
    EXPECT_EQ(program.vars[static_cast<std::size_t>(find_var(program, name))].shape, (Shape{6})) << name;
  EXPECT_EQ(find_var(program, "in.weight"), kNone);
  EXPECT_EQ(program.blocks[0].ops.back().attrs.integer("groups"), 6);
}

TEST(InstanceNormLayer, NormalisesEachChannelOfASample) {
  const Attrs plain{{"affine", 0}, {"eps", 0}};
  EXPECT_EQ(run_layer("InstanceNormalization", {{2, 1, 2, 2}, {1, 10, 3, 30, 7, 4, 5, 6}}, plain),
            (Tensor{{2, 1, 2, 2}, {-1, -1, 1, 1, 1, -1, -1, 1}}));
  EXPECT_EQ(run_layer("instance_norm", {{1, 2, 2}, {1, 10, 3, 30}}, plain), (Tensor{{1, 2, 2}, {-1, -1, 1, 1}}));
}

TEST(GroupNorm, SaysWhatDoesNotFit) {
  const auto fails = [](const Shape& x, std::int64_t groups) {
    return complaint("group_norm", {x, {6}, {6}}, {{"groups", groups}, {"eps", 1e-5}});
  };
  EXPECT_EQ(fails({2, 3, 6}, 3), "");
  EXPECT_EQ(fails({2, 3, 6}, 4), "group_norm: 4 groups do not divide 6 channels");
  EXPECT_EQ(fails({2, 6}, 6), "group_norm: a group of [2,6] is one number, of which nothing is left");
  EXPECT_EQ(fails({6}, 6), "group_norm: input [6], expected a batch of samples with channels");
  EXPECT_EQ(fails({2, 3, 8}, 4), "group_norm: weight is f32[6], expected f32[8]");
  EXPECT_EQ(complaint("group_norm_grad", {{2, 3, 6}, {6}, {2, 3}, {2, 2}, {2, 3, 6}}, {{"groups", 3}}),
            "group_norm_grad: inv_std is f32[2,2], expected f32[2,3]");
}

Attrs lrn(std::int64_t size, double alpha, double beta, double k) {
  return {{"size", size}, {"alpha", alpha}, {"beta", beta}, {"k", k}};
}

TEST(Lrn, DividesByTheStrengthOfTheNeighbours) {
  // Squares 1, 4, 9, 16; sums over three neighbours 5, 14, 29, 25; alpha / size is 1.
  EXPECT_EQ(run_op("lrn", {counted({1, 4})}, lrn(3, 3, 1, 0)), (Tensor{{1, 4}, {1. / 5, 2. / 14, 3. / 29, 4. / 25}}));
}

TEST(Lrn, AnEvenWindowReachesFurtherBack) {
  EXPECT_EQ(run_op("lrn", {counted({1, 3})}, lrn(2, 2, 1, 0)), (Tensor{{1, 3}, {1. / 1, 2. / 5, 3. / 13}}));
}

TEST(Lrn, ThreeQuartersIsAPowerLikeAnyOther) {
  const double y = run_op("lrn", {Tensor{{1, 1}, {3}}}, lrn(5, 1, 0.75, 2)).values[0];
  EXPECT_NEAR(y, 3 / std::pow(2 + 9 / 5.0, 0.75), 1e-15);
}

TEST(Lrn, SaysWhatItCannotDo) {
  EXPECT_EQ(complaint("lrn", {{1, 4}}, lrn(33, 1, 0.75, 1)), "lrn: size is 33, expected 1 to 32");
}

TEST(Mean, TakesAllAxesUnlessSomeAreNamed) {
  const Tensor x = counted({2, 3, 2});
  EXPECT_EQ(run_op("mean", {x}), (Tensor{{}, {6.5}}));
  EXPECT_EQ(run_op("sum", {x}), (Tensor{{}, {78}}));
  EXPECT_EQ(run_op("sum", {x}, {{"axes", Ints{1}}}), (Tensor{{2, 2}, {9, 12, 27, 30}}));
  EXPECT_EQ(run_op("sum", {x}, {{"axes", Ints{2, 0}}}), (Tensor{{3}, {18, 26, 34}}));
  EXPECT_EQ(run_op("mean", {x}, {{"axes", Ints{0, 2}}, {"keep_dims", true}}), (Tensor{{1, 3, 1}, {4.5, 6.5, 8.5}}));
}

TEST(Mean, GradientIsSpreadEvenly) {
  const Attrs attrs{{"axes", Ints{0, 2}}, {"shape", Ints{2, 2, 2}}};
  EXPECT_EQ(run_op("mean_grad", {Tensor{{2}, {4, 8}}}, attrs), (Tensor{{2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2}}));
}

TEST(Mean, LayersReduceOneAxisOrAll) {
  Builder net({.batch = 2});
  const VarId image = net.input("image", {4, 5, 3});
  EXPECT_EQ(net.shape(net.layer("mean", image)), Shape{});
  EXPECT_EQ(net.shape(net.layer("sum", image, {{"axis", "channels"}})), (Shape{2, 4, 5}));
  EXPECT_EQ(net.shape(net.layer("mean", image, {{"axis", "height"}, {"keep", true}})), (Shape{2, 1, 5, 3}));
}

TEST(Mean, SaysWhichAxisIsNotThere) {
  EXPECT_EQ(complaint("mean", {{2, 3}}, {{"axes", Ints{2}}}), "mean: no axis 2 in [2,3]");
  EXPECT_EQ(complaint("sum", {{2, 3}}, {{"axes", Ints{1, 1}}}), "sum: an axis stands twice in [1,1]");
}

}  // namespace
}  // namespace lethe::testing
