// Values that no input gives: learned tensors, counted numbers.
#include <gtest/gtest.h>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/interpreter.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

TEST(ParameterLayer, BroadcastsOverTheBatchWithoutACopy) {
  Builder net({.batch = 4});
  const VarId x = net.input("tokens", {5, 3});
  const VarId positions = net.layer("parameter", x, {{"shape", Ints{5, 3}}}, "positions");
  const VarId y = net.layer("add", {x, positions});
  EXPECT_EQ(net.shape(y), (Shape{4, 5, 3}));
  Network network = net.finish();
  EXPECT_EQ(network.program.blocks[0].ops.size(), 1u);
  ASSERT_EQ(network.params.size(), 1u);
  const ParamInfo& info = network.params[0];
  EXPECT_EQ(network.program.vars[info.var].name, "positions.weight");
  EXPECT_EQ(network.program.vars[info.var].shape, (Shape{1, 5, 3}));
  EXPECT_EQ(info.init.kind, Init::Normal);
  EXPECT_EQ(info.init.value, 0.02);
  EXPECT_FALSE(info.decay);
}

TEST(ParameterLayer, OfAnImageStandsChannelsFirstInFiles) {
  Builder net({.batch = 2});
  const VarId x = net.input("image", {4, 5, 3});
  EXPECT_EQ(net.shape(net.layer("parameter", x, {{"shape", Ints{3, 4, 5}}, {"init", "zeros"}})), (Shape{1, 4, 5, 3}));
  const Network network = net.finish();
  EXPECT_EQ(network.params[0].layout, FileLayout{FileLayout::Conv});
  EXPECT_EQ(network.params[0].init, Init{});
}

TEST(ParameterLayer, OfAnImageIsAnImage) {
  Builder net({.batch = 2});
  const VarId x = net.input("image", {4, 5, 3});
  const VarId learned = net.layer("parameter", x, {{"shape", Ints{2, 4, 5}}, {"expand", 1}});
  const VarId both = net.layer("concat", {x, learned}, {{"axis", "channels"}});
  EXPECT_EQ(net.shape(net.layer("conv", both, {{"out", 4}, {"k", 3}})), (Shape{2, 4, 5, 4}));
  EXPECT_TRUE(net.is_image(net.layer("parameter", x, {{"shape", Ints{2, 4, 5}}})));
}

TEST(ParameterLayer, OfAPlainSampleIsPlain) {
  Builder net({.batch = 2});
  const VarId x = net.input("heads", {3, 4, 5}, DType::f32, Layout::Plain);
  const VarId learned = net.layer("parameter", x, {{"shape", Ints{3, 4, 5}}}, "learned");
  EXPECT_EQ(net.shape(net.layer("add", {x, learned})), (Shape{2, 3, 4, 5}));
  const VarId image = net.layer("parameter", x, {{"shape", Ints{3, 4, 5}}, {"layout", "image"}});
  EXPECT_EQ(net.shape(image), (Shape{1, 4, 5, 3}));
  EXPECT_EQ(net.finish().params[0].layout, FileLayout{});
}

TEST(ParameterLayer, ExpandedIsThereForEachSampleAndItsGradientSumsThem) {
  Builder net({.batch = 3, .dtype = DType::f64});
  const VarId x = net.input("tokens", {2, 4});
  const VarId token = net.layer("parameter", x, {{"shape", Ints{1, 4}}, {"expand", 1}}, "class");
  EXPECT_EQ(net.shape(token), (Shape{3, 1, 4}));
  const VarId all = net.layer("concat", {token, x}, {{"axis", 0}});
  EXPECT_EQ(net.shape(all), (Shape{3, 3, 4}));
  net.loss("mse", net.layer("sum", all, {{"axis", 0}}), net.input("target", {4}));
  Network network = net.finish();
  const std::vector<ParamGrad> gradients = append_backward(network.program, network.loss, {x});
  Interpreter values(network.program);
  for (const VarId v : {x, network.params[0].var, network.target}) values.fill_uniform(v, -1, 1, v + 1);
  values.run();
  ASSERT_EQ(gradients.size(), 2u);
  const bool first = gradients[0].param == x;
  const VarId of_x = gradients[first ? 0 : 1].grad, of_token = gradients[first ? 1 : 0].grad;
  for (int c = 0; c < 4; ++c) {
    double sum = 0;
    for (int sample = 0; sample < 3; ++sample) sum += values.number(of_x, sample * 8 + c);
    EXPECT_NEAR(values.number(of_token, c), sum, 1e-15);
  }
}

TEST(ParameterLayer, SizesMustBePositive) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {3});
  EXPECT_TRUE(fails_with("'shape' of 'parameter' is [0,3], expected at least 1", [&] {
    net.layer("parameter", x, {{"shape", Ints{0, 3}}});
  }));
}

TEST(Arange, CountsInSteps) {
  EXPECT_EQ(run_op("arange", {}, {{"start", 5}, {"step", -2}, {"length", 3}, {"dtype", "f64"}}),
            (Tensor{{1, 3}, {5, 3, 1}}));
}

TEST(ArangeLayer, StopsBeforeItsEnd) {
  const auto length = [](const Attrs& settings) {
    Builder net({.batch = 2});
    return net.shape(net.layer("arange", Vars{}, settings)).at(1);
  };
  EXPECT_EQ(length({{"end", 5}}), 5);
  EXPECT_EQ(length({{"start", 1}, {"end", 8}, {"step", 3}}), 3);
  EXPECT_EQ(length({{"start", 1}, {"end", 7}, {"step", 3}}), 2);
  EXPECT_EQ(length({{"start", 5}, {"end", 0}, {"step", -2}}), 3);
  EXPECT_EQ(length({{"start", 4}, {"end", 0}, {"step", -2}}), 2);
  for (const Attrs& settings : {Attrs{{"end", 0}}, Attrs{{"end", 3}, {"step", -1}}, Attrs{{"end", 3}, {"step", 0}},
                                Attrs{{"end", 3}, {"step", -7}}})
    EXPECT_TRUE(fails_with("arange: no number from 0 to below", [&] { length(settings); }));
  for (const char* key : {"end", "start", "step"})
    for (const std::int64_t value : {INT64_MIN, INT64_MAX}) {
      Attrs settings{{"end", 5}};
      settings.set(key, value);
      EXPECT_TRUE(fails_with(message("'", key, "' of 'arange' is ", value, ", expected -2147483647 to 2147483647"),
                             [&] { length(settings); }));
    }
}

TEST(Arange, RefusesNumbersThatTheDTypeDoesNotHold) {
  const auto refused = [](const char* dtype, std::int64_t start, std::int64_t step, std::int64_t length) {
    return complaint("arange", {}, {{"start", start}, {"step", step}, {"length", length}, {"dtype", dtype}});
  };
  EXPECT_EQ(refused("bf16", 0, 1, 257), "");
  EXPECT_EQ(refused("bf16", 0, 1, 258), "arange: bf16 does not hold all whole numbers from 0 to 257");
  EXPECT_EQ(refused("f16", -2048, 1, 2), "");
  EXPECT_EQ(refused("f16", -2048, -1, 2), "arange: f16 does not hold all whole numbers from -2048 to -2049");
  EXPECT_EQ(refused("u8", 255, -1, 256), "");
  EXPECT_EQ(refused("u8", 255, -1, 257), "arange: u8 does not hold all whole numbers from 255 to -1");
  EXPECT_EQ(refused("i32", 2147483646, 1, 3),
            "arange: i32 does not hold all whole numbers from 2147483646 to 2147483648");
  EXPECT_EQ(refused("i64", INT64_MAX, 1, 2), "arange: the last number is too large: 9223372036854775807 + 1");
  EXPECT_EQ(refused("i64", 0, INT64_MAX, 3), "arange: the last number is too large: 2 * 9223372036854775807");
}

TEST(ArangeLayer, SelectsLearnedPositions) {
  Builder net({.batch = 2});
  const VarId x = net.input("tokens", {6, 4});
  const VarId positions = net.layer("embedding", net.layer("arange", Vars{}, {{"end", 6}}), {{"vocab", 6}, {"out", 4}});
  EXPECT_EQ(net.shape(net.layer("add", {x, positions})), (Shape{2, 6, 4}));
}

}  // namespace
}  // namespace lethe::testing
