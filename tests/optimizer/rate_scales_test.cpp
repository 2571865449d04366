#include "optimizer/rate_scales.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "framework/language/text.h"
#include "models/network.h"
#include "tests/optimizer/training.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

Network tiny_gpt2() {
  return load_network("gpt2", {}, {{"layers", "2"}, {"width", "8"}, {"heads", "2"}, {"length", "4"}, {"vocab", "11"}});
}

RateScales scales(const RateSetting& setting) { return rate_scales(tiny_gpt2(), setting); }

using Depth = std::map<std::string, std::int64_t>;

/// BEiT's layers, and for ResNets timm's (group_matcher): what the published code gives for these names.
TEST(RateScales, NetworksOfTheZooSayTheirLayers) {
  struct Known {
    const char* model;
    Sets sets;
    std::int64_t blocks;
    Depth some;
  };
  const std::vector<Known> all = {
      {"gpt2",
       {{"layers", "3"}, {"vocab", "100"}},
       3,
       {{"tokens.weight", 0},
        {"positions.weight", 0},
        {"layer/0/mlp/up.bias", 1},
        {"layer/2/attention/qkv.weight", 3},
        {"norm.bias", 4}}},
      {"llama",
       {{"layers", "12"}},
       12,
       {{"tokens.weight", 0},
        {"layer/1/mlp/gate.weight", 2},
        {"layer/11/mlp/gate.weight", 12},
        {"norm.weight", 13},
        {"logits.weight", 13}}},
      {"bert",
       {},
       2,
       {{"tokens.weight", 0},
        {"positions.weight", 0},
        {"norm.weight", 0},
        {"layer/0/norm.weight", 1},
        {"layer/1/norm2.bias", 2},
        {"pooler.weight", 3},
        {"logits.bias", 3}}},
      {"vit_tiny",
       {},
       12,
       {{"class.weight", 0},
        {"positions.weight", 0},
        {"patches.bias", 0},
        {"layer/11/mlp/up.weight", 12},
        {"norm.weight", 13},
        {"logits.weight", 13}}},
      {"vit_tiny", {{"pool_mean", "true"}, {"layers", "1"}}, 1, {{"positions.weight", 0}, {"logits.weight", 2}}},
      {"resnet50",
       {},
       16,
       {{"stem/conv1.weight", 0},
        {"stage1/0/b1/conv_bn1/conv1.weight", 1},
        {"stage2/0/b0/conv_bn1/bn1.bias", 4},
        {"stage4/2/b0/conv_bn3/conv1.weight", 16},
        {"logits.weight", 17}}}};
  for (const Known& known : all) {
    SCOPED_TRACE(known.model);
    const Depths depths = depths_of(load_network(known.model, {}, known.sets));
    EXPECT_EQ(depths.blocks, known.blocks);
    for (const auto& [name, depth] : known.some) {
      ASSERT_TRUE(depths.of.contains(name)) << name;
      EXPECT_EQ(depths.of.at(name), depth) << name;
    }
  }
}

TEST(RateScales, FallByLayerFromTheHeadDown) {
  EXPECT_TRUE(scales({}).empty());
  const RateScales by_layer = scales({.layer_decay = 0.5});
  EXPECT_EQ(by_layer.at("tokens.weight"), 0.125);
  EXPECT_EQ(by_layer.at("layer/0/mlp/up.bias"), 0.25);
  EXPECT_EQ(by_layer.at("layer/1/mlp/up.bias"), 0.5);
  EXPECT_FALSE(by_layer.contains("norm.weight")) << "the head has all of the rate";
}

TEST(RateScales, OfNamesAreFactorsOrRates) {
  EXPECT_EQ(scales({.of = "norm.*=0.1x,wpe.weight=3e-4,lm_head.weight=2x", .lr = 1e-3}),
            (RateScales{{"norm.weight", 0.1}, {"norm.bias", 0.1}, {"positions.weight", 0.3}, {"tokens.weight", 2}}));
  EXPECT_EQ(scales({.of = "norm.*=3x,norm.bias=1x"}), (RateScales{{"norm.weight", 3}})) << "the last one counts";
  const RateScales both = scales({.of = "layer/0/*=4x,positions.*=0.001", .layer_decay = 0.5, .lr = 0.01});
  EXPECT_EQ(both.at("layer/1/mlp/up.bias"), 0.5);
  EXPECT_FALSE(both.contains("layer/0/mlp/up.bias")) << "four times a quarter";
  EXPECT_EQ(both.at("positions.weight"), 0.1) << "a rate is as it stands";
}

TEST(RateScales, WhatMeansNothingIsRefusedByName) {
  EXPECT_EQ(error_of([] { scales({.of = "normm.*=2x"}); }),
            "`lr_of`: no parameter is called 'normm.*'; did you mean 'norm.*'?");
  EXPECT_EQ(error_of([] { scales({.of = "norm.*=3e-4"}); }),
            "`lr_of`: 'norm.*=3e-4' is a rate, but what the others have is not known here; a factor goes, as in "
            "NAMES=0.1x, or `lr_of` none");
  EXPECT_EQ(error_of([] { scales({.of = ","}); }), "`lr_of`: ',' names no pattern");
  for (const char* wrong :
       {"norm.*", "=2x", "norm.*=", "norm.*=x", "norm.*=0x", "norm.*=-1", "norm.*=2xx", "norm.*=inf", "norm.*=1e-4 "})
    EXPECT_NE(error_of([&] { scales({.of = wrong, .lr = 1}); }).find("gives no rate"), std::string::npos) << wrong;
  const Network lenet = load_network("lenet", {});
  EXPECT_EQ(error_of([&] { rate_scales(lenet, {.layer_decay = 0.5}); }),
            "`layer_decay`: lenet does not say which parameters are of which layer, as \"depth\" in its file would");
}

TEST(RateScales, AreOfParametersThatAreTrained) {
  const Network network = load_network("resnet20", {.frozen = {"conv1.weight"}}, {{"n", "1"}});
  EXPECT_EQ(error_of([&] { rate_scales(network, {.of = "logits.*=2x,conv1.*=2x"}); }),
            "`lr_of`: 'conv1.*' means no parameter that is trained");
  EXPECT_EQ(error_of([&] { rate_scales(network, {.of = "*.running_mean=2x"}); }),
            "`lr_of`: '*.running_mean' means no parameter that is trained");
  EXPECT_EQ(rate_scales(network, {.of = "*1.weight=2x"}).at("bn1.weight"), 2) << "a part of what it means is frozen";
}

/// tests/oracles/param_groups.py takes the same steps.
TEST(RateScales, OfStepsAreThoseOfPyTorchsGroups) {
  std::ifstream file(LETHE_SOURCE_DIR "/tests/oracles/param_groups.json");
  const nlohmann::json groups = nlohmann::json::parse(file);
  ASSERT_EQ(groups.size(), 9U);
  for (const auto& [name, expected] : groups.items()) {
    SCOPED_TRACE(name);
    OptimizerSettings settings = with_decay(name.substr(0, name.find(' ')));
    if (name.ends_with("with momentum")) settings.momentum = 0.9;
    Training training({kStart, kStart, kStart}, settings, true, {{"w1", 0.25}, {"w2", 0.3}});
    const Reals rates = {0.1, 0.05, 0.02};
    for (std::size_t step = 0; step < rates.size(); ++step) {
      training.step({kGradients[step], kGradients[step], kGradients[step]}, rates[step]);
      for (std::size_t p = 0; p < 3; ++p)
        for (std::size_t i = 0; i < kStart.size(); ++i)
          EXPECT_NEAR(training.values(message("w", p))[i], expected[step][p][i].get<double>(), 1e-14)
              << "step " << step << ", w" << p << ", element " << i;
    }
  }
}

TEST(RateScales, ThatAreNotAskedForLeaveProgramsAsTheyWere) {
  const Training plain({{1}, {2}}, optimizer_named("adam"));
  EXPECT_EQ(to_text(plain.program).find("rate_scale"), std::string::npos);
  const Training one({{1}, {2}}, optimizer_named("adam"), true, {{"w1", 0.5}});
  std::size_t scaled = 0;
  for (const Op& op : one.program.blocks[0].ops) scaled += op.attrs.has("rate_scale");
  EXPECT_EQ(scaled, 1U);
}

}  // namespace
}  // namespace lethe::testing
