#include <gtest/gtest.h>

#include <cmath>

#include "framework/builder/builder.h"
#include "tests/support/run_op.h"

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
