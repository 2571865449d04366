#include "framework/builder/builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

Network lenet() {
  Builder net({.batch = 4});
  VarId x = net.input("image", {28, 28, 1});
  x = net.layer("max_pool", net.layer("relu", net.layer("conv", x, {{"out", 6}, {"k", 5}, {"pad", 2}})), {{"k", 2}});
  x = net.layer("max_pool", net.layer("relu", net.layer("conv", x, {{"out", 16}, {"k", 5}, {"pad", 0}})), {{"k", 2}});
  x = net.layer("relu", net.layer("fc", x, {{"out", 120}}));
  x = net.layer("relu", net.layer("fc", x, {{"out", 84}}));
  x = net.layer("fc", x, {{"out", 10}}, "logits");
  EXPECT_EQ(net.parameters(), 61706);
  net.loss("cross_entropy", x, net.input("label", {}, DType::i32));
  return net.finish();
}

TEST(Builder, LeNetHasItsPublishedParameterCount) { verify(lenet().program); }

TEST(Builder, FinishedNetworkKnowsItsEnds) {
  const Network net = lenet();
  const auto name = [&](VarId v) { return net.program.vars[v].name; };
  ASSERT_EQ(net.inputs.size(), 2u);
  EXPECT_EQ(name(net.inputs[0]), "image");
  EXPECT_EQ(name(net.target), "label");
  ASSERT_EQ(net.outputs.size(), 1u);
  EXPECT_EQ(net.program.vars[net.outputs[0]].shape, (Shape{4, 10}));
  EXPECT_EQ(net.program.vars[net.loss].shape, Shape{});
  EXPECT_EQ(net.program.vars[net.sample_loss].shape, Shape{4});
  EXPECT_EQ(net.program.vars[net.correct].shape, Shape{4});
  EXPECT_EQ(net.program.vars[net.correct].dtype, DType::u8);
  EXPECT_EQ(net.program.vars[net.inputs[0]].shape, (Shape{4, 28, 28, 1}));
}

TEST(Builder, ParametersAreNamedByTheirPath) {
  const Program program = lenet().program;
  for (const char* name : {"conv1.weight", "conv1.bias", "conv2.weight", "fc1.weight", "logits.weight", "logits.bias"})
    EXPECT_NE(find_var(program, name), kNone) << name;
  EXPECT_EQ(program.vars[find_var(program, "conv2.weight")].shape, (Shape{16, 5, 5, 6})) << "[O, kh, kw, I]";
}

TEST(Builder, WeightDecayIsForWeightsAlone) {
  Builder net({});
  const VarId x = net.layer("bn", net.layer("conv", net.input("image", {4, 4, 2}), {{"out", 3}, {"k", 1}}));
  net.layer("fc", x, {{"out", 2}});
  const Network network = net.finish();
  for (const ParamInfo& info : network.params) {
    const std::string& name = network.program.vars[info.var].name;
    const bool weight = name == "conv1.weight" || name == "fc1.weight";
    EXPECT_EQ(info.decay, weight) << name;
  }
}

TEST(Builder, AliasesAndOpNamesMeanTheSameLayer) {
  EXPECT_EQ(&layer_named("relu"), &layer_named("Relu"));
  EXPECT_EQ(&layer_named("conv"), &layer_named("Conv"));
  EXPECT_EQ(&layer_named("conv"), &layer_named("conv2d"));
}

TEST(Builder, NoTwoLayersShareAName) {
  std::vector<std::string> names;
  for (const Layer* layer : all_layers()) {
    names.push_back(layer->name);
    names.insert(names.end(), layer->aliases.begin(), layer->aliases.end());
    EXPECT_TRUE(layer->build != nullptr) << layer->name;
    EXPECT_FALSE(layer->help.empty()) << layer->name;
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

/// The SettingError that a conv with these settings ends in, as "key: message".
std::string setting_error(const std::string& layer, const Attrs& settings) {
  Builder net({});
  const VarId x = net.input("image", {8, 8, 3});
  try {
    net.layer(layer, x, settings);
  } catch (const SettingError& error) {
    return error.key + ": " + error.what();
  }
  return "(nothing)";
}

void expect_starts(const std::string& text, const std::string& start) {
  EXPECT_EQ(text.substr(0, start.size()), start);
}

TEST(Builder, UnknownKeyIsNamedWithASuggestion) {
  expect_starts(setting_error("conv", {{"out", 4}, {"k", 3}, {"strid", 2}}),
                "strid: unknown key 'strid' in 'conv'; did you mean 'stride'?");
  expect_starts(setting_error("relu", {{"slope", 0.5}}), "slope: unknown key 'slope' in 'relu'");
}

TEST(Builder, MissingAndWrongKeysAreNamed) {
  expect_starts(setting_error("conv", {{"k", 3}}), "out: 'conv' needs 'out'");
  expect_starts(setting_error("conv", {{"out", "many"}, {"k", 3}}),
                "out: 'out' of 'conv' is \"many\", expected a whole number");
  expect_starts(setting_error("conv", {{"out", 4}, {"k", Ints{3, 3, 3}}}), "k: 'k' of 'conv' is [3,3,3], expected");
  expect_starts(setting_error("conv", {{"out", 4}, {"k", 3}, {"pad", "some"}}),
                "pad: 'pad' of 'conv' is \"some\", expected");
}

TEST(Builder, ValuesOutOfTheRangeOfTheirKeyAreNamed) {
  const auto conv = [](const std::string& key, const Attr& value) {
    Attrs settings{{"out", 4}, {"k", 3}};
    settings.set(key, value);
    return setting_error("conv", settings);
  };
  EXPECT_EQ(conv("stride", 0), "stride: 'stride' of 'conv' is 0, expected 1 to 2147483647");
  EXPECT_EQ(conv("k", Ints{3, 0}), "k: 'k' of 'conv' is [3,0], expected 1 to 2147483647");
  EXPECT_EQ(conv("pad", -1), "pad: 'pad' of 'conv' is -1, expected 0 to 2147483647");
  EXPECT_EQ(conv("pad", "same"), "(nothing)");
  EXPECT_EQ(conv("out", -4), "out: 'out' of 'conv' is -4, expected at least 1");
  EXPECT_EQ(setting_error("dropout", {{"p", 1}}), "p: 'p' of 'dropout' is 1, expected at least 0 and below 1");
  EXPECT_EQ(setting_error("dropout", {{"p", std::numeric_limits<double>::infinity()}}),
            "p: 'p' of 'dropout' is inf, expected a number");
}

TEST(Builder, UnknownLayerAndLossAreNamedWithASuggestion) {
  Builder net({});
  const VarId x = net.input("image", {8, 8, 3});
  EXPECT_TRUE(fails_with("unknown layer 'rellu'; did you mean 'relu'?", [&] { net.layer("rellu", x); }));
  EXPECT_TRUE(fails_with("unknown loss 'cross_entropie'; did you mean 'cross_entropy'?",
                         [&] { net.loss("cross_entropie", x, x); }));
}

TEST(Builder, InputsThatDoNotFitAreRefused) {
  Builder net({.batch = 2});
  const VarId a = net.input("a", {8, 8, 3}), b = net.input("b", {8, 8, 4});
  EXPECT_NE(error_of([&] { net.layer("add", {a, b}); }), "(nothing)");
  EXPECT_NE(error_of([&] { net.layer("relu", {a, b}); }), "(nothing)");
  EXPECT_NE(error_of([&] {
              net.layer("conv", a, {{"out", 4}, {"k", 11}, {"pad", 0}});
            }),
            "(nothing)")
      << "a kernel larger than the image";
  EXPECT_TRUE(fails_with("'a' is declared twice", [&] { net.input("a", {1}); }));
  EXPECT_TRUE(fails_with("sizes must be positive", [&] { net.input("c", {0}); }));
}

TEST(Builder, SizesBeyondReasonAreRefused) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {4});
  const Attrs huge{{"out", std::int64_t{1} << 62}};
  EXPECT_TRUE(fails_with("too many elements", [&] { net.layer("fc", x, huge); }));
  EXPECT_TRUE(fails_with("too many elements", [&] { net.input("y", {std::int64_t{1} << 50}); }));
}

TEST(Builder, TwoLayersOfOnePathAreRefused) {
  Builder net({});
  const VarId x = net.input("x", {4});
  net.layer("fc", x, {{"out", 2}}, "head");
  EXPECT_TRUE(fails_with("'head.weight' is there already", [&] { net.layer("fc", x, {{"out", 2}}, "head"); }));
}

TEST(Builder, EvaluationReadsRunningStatisticsAndDropsNothing) {
  const auto types = [](bool training) {
    Builder net({.training = training});
    net.layer("dropout", net.layer("bn", net.input("image", {4, 4, 2})), {{"p", 0.5}});
    std::vector<std::string> types;
    for (const Op& op : net.program().blocks[0].ops) types.push_back(op.type);
    return types;
  };
  EXPECT_EQ(types(false), std::vector<std::string>{"batch_norm_inference"});
  const std::vector<std::string> training = types(true);
  EXPECT_NE(std::find(training.begin(), training.end(), "batch_norm"), training.end());
  EXPECT_NE(std::find(training.begin(), training.end(), "dropout"), training.end());
}

}  // namespace
}  // namespace lethe::testing
