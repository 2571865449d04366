// Layers of several inputs none of which has the shape of the result.
#include <gtest/gtest.h>

#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/gradient_check.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

/// A network of one layer on plain inputs that hold 1, 2, 3...
class OneLayer {
 public:
  OneLayer(const std::string& layer, const std::vector<Shape>& samples, const Attrs& settings = {}) {
    std::vector<VarId> in;
    for (const Shape& sample : samples)
      in.push_back(net_.input("in" + std::to_string(in.size()), sample, DType::f64, Layout::Plain));
    y_ = net_.layer(layer, in, settings);
  }
  const Shape& shape() const { return net_.shape(y_); }
  /// Op types in order, joined by spaces.
  std::string ops() const {
    std::string all;
    for (const Op& op : net_.program().blocks[0].ops) all += (all.empty() ? "" : " ") + op.type;
    return all;
  }
  std::vector<double> values() {
    const Network network = net_.finish();
    Interpreter values(network.program);
    for (const VarId in : network.inputs)
      for (std::int64_t i = 0; i < elements(network.program.vars[in].shape); ++i)
        values.set(in, i, static_cast<double>(i + 1));
    values.run();
    std::vector<double> all;
    for (std::int64_t i = 0; i < elements(network.program.vars[y_].shape); ++i) all.push_back(values.number(y_, i));
    return all;
  }

 private:
  Builder net_{{.batch = 1, .dtype = DType::f64}};
  VarId y_;
};

using Values = std::vector<double>;

TEST(TwoSided, BothOperandsBroadcast) {
  OneLayer add("add", {{2, 1, 2}, {1, 3, 2}});
  EXPECT_EQ(add.shape(), (Shape{1, 2, 3, 2}));
  EXPECT_EQ(add.ops(), "expand add");
  EXPECT_EQ(add.values(), (Values{2, 4, 4, 6, 6, 8, 4, 6, 6, 8, 8, 10}));
  EXPECT_EQ(OneLayer("mul", {{2, 1}, {1, 3}}).values(), (Values{1, 2, 3, 2, 4, 6}));
  EXPECT_EQ(OneLayer("sub", {{2, 1}, {1, 3}}).values(), (Values{0, -1, -2, 1, 0, -1}));
  EXPECT_EQ(OneLayer("div", {{2, 1}, {1, 2}}).values(), (Values{1, 0.5, 2, 1}));
  EXPECT_EQ(OneLayer("max", {{2, 1}, {1, 3}}).values(), (Values{1, 2, 3, 2, 2, 3}));
  EXPECT_EQ(OneLayer("min", {{2, 1}, {1, 3}}).values(), (Values{1, 1, 1, 1, 2, 2}));
  EXPECT_EQ(OneLayer("pow", {{2, 1}, {1, 3}}).values(), (Values{1, 1, 1, 2, 4, 8}));
  EXPECT_EQ(OneLayer("mod", {{3, 1}, {1, 2}}).values(), (Values{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(OneLayer("greater", {{2, 1}, {1, 3}}).values(), (Values{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(OneLayer("less", {{2, 1}, {1, 3}}).values(), (Values{0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(OneLayer("equal", {{2, 1}, {1, 3}}).values(), (Values{1, 0, 0, 0, 1, 0}));
}

TEST(TwoSided, OnlyWhatMustIsExpanded) {
  EXPECT_EQ(OneLayer("add", {{1, 3}, {2, 3}}).ops(), "add");
  EXPECT_EQ(OneLayer("max", {{1, 3}, {2, 3}}).ops(), "max");
  EXPECT_EQ(OneLayer("equal", {{1, 3}, {2, 3}}).ops(), "equal");
  EXPECT_EQ(OneLayer("sub", {{2, 3}, {1, 3}}).ops(), "sub");
  OneLayer sub("sub", {{1, 2}, {2, 2}});
  EXPECT_EQ(sub.ops(), "expand sub");
  EXPECT_EQ(sub.values(), (Values{0, 0, -2, -2}));
}

TEST(TwoSided, ShorterShapesGetAxesAfterTheBatch) {
  OneLayer add("add", {{3}, {2, 3}});
  EXPECT_EQ(add.ops(), "reshape add");
  EXPECT_EQ(add.values(), (Values{2, 4, 6, 5, 7, 9}));
  OneLayer both("sub", {{2, 1}, {2, 1, 2}});
  EXPECT_EQ(both.ops(), "reshape expand sub");
  EXPECT_EQ(both.shape(), (Shape{1, 2, 2, 2}));
  EXPECT_EQ(both.values(), (Values{0, -1, 1, 0, -2, -3, -1, -2}));
}

TEST(TwoSided, MoreThanTwoInputsGoFromLeftToRight) {
  EXPECT_EQ(OneLayer("add", {{2, 2}, {2, 2}, {2, 2}}).ops(), "sum_n");
  EXPECT_EQ(OneLayer("add", {{2, 1}, {1, 3}, {1, 1}}).values(), (Values{3, 4, 5, 4, 5, 6}));
  EXPECT_EQ(OneLayer("max", {{1, 1}, {2, 1}, {1, 3}}).values(), (Values{1, 2, 3, 2, 2, 3}));
}

TEST(TwoSided, ABatchOfOneIsThatOfAllSamples) {
  Builder net({.batch = 3});
  const VarId x = net.input("x", {4, 1}), row = net.layer("parameter", x, {{"shape", Ints{1, 5}}});
  EXPECT_EQ(net.shape(net.layer("mul", {x, row})), (Shape{3, 4, 5}));
  EXPECT_EQ(net.shape(net.layer("sub", {row, x})), (Shape{3, 4, 5}));
}

TEST(TwoSided, ARowLiesAlongTheWidthOfAnImage) {
  Builder net({.batch = 2});
  const VarId image = net.input("image", {4, 5, 3}), row = net.input("row", {5});
  const VarId sum = net.layer("add", {row, image});
  EXPECT_EQ(net.shape(sum), (Shape{2, 4, 5, 3}));
  EXPECT_TRUE(net.is_image(sum));
  EXPECT_EQ(net.shape(net.program().blocks[0].ops[0].out[0]), (Shape{2, 1, 5, 1}));
  const VarId one = net.layer("constant", image, {{"value", 1.0}});
  const VarId rest = net.layer("sub", {one, image});
  EXPECT_TRUE(net.is_image(rest));
  EXPECT_EQ(net.shape(rest), (Shape{2, 4, 5, 3}));
}

/// Of two layers' weights, whose outputs are expanded against each other, and of what all samples share.
TEST(TwoSided, GradientsAreSummedOverWhatWasExpanded) {
  Builder net({.batch = 2, .dtype = DType::f64});
  const VarId x = net.input("x", {4});
  const auto rows = [&](const Attrs& shape, const char* per) {
    const VarId y = net.layer("reshape", net.layer("fc", x, {{"out", 6}}), shape);
    return net.layer("prelu", y, {{"per", per}});
  };
  const VarId a = rows({{"shape", Ints{3, 1, 2}}, {"layout", "plain"}}, "channel");
  const VarId b = rows({{"shape", Ints{3, 2}}}, "all"), learned = net.layer("parameter", b, {{"shape", Ints{1, 2}}});
  const VarId differences = net.layer("sub", {b, a});
  const VarId chosen = net.layer("where", {net.layer("less", {a, b}), differences, learned});
  const VarId power = net.layer("pow", net.layer("min", {learned, chosen}), {{"exponent", 3}});
  const VarId all = net.layer("sum", net.layer("add", {power, differences, learned}), {{"axis", 0}});
  net.loss("mse", net.layer("sum", all, {{"axis", 0}}), net.input("target", {2}));
  EXPECT_EQ(wrong_gradient(with_backward(net.finish())), "");
}

TEST(TwoSided, ShapesThatDoNotFitAreNamed) {
  EXPECT_TRUE(fails_with("max: shapes [1,2,3] and [1,2,2] do not fit", [] { OneLayer("max", {{2, 3}, {2, 2}}); }));
}

TEST(WhereLayer, AllInputsBroadcast) {
  Builder net({.batch = 2});
  const VarId a = net.input("a", {4, 1}), b = net.input("b", {5}), cond = net.layer("greater", {a, b});
  EXPECT_EQ(net.shape(cond), (Shape{2, 4, 5}));
  EXPECT_EQ(net.shape(net.layer("where", {cond, a, b})), (Shape{2, 4, 5}));
  const VarId zero = net.layer("constant", a, {{"value", 0.0}}), is_high = net.layer("greater", a, {{"value", 0.5}});
  EXPECT_EQ(net.shape(net.layer("where", {is_high, b, zero})), (Shape{2, 4, 5}));
  EXPECT_EQ(net.shape(net.layer("where", {is_high, zero, zero})), (Shape{2, 4, 1}));
  EXPECT_TRUE(fails_with("where: shapes [2,4,1], [2,5] and [2,3] do not broadcast", [&] {
    net.layer("where", {is_high, b, net.input("c", {3})});
  }));
}

}  // namespace
}  // namespace lethe::testing
