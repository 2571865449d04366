#include "framework/builder/weights_named.h"

#include <gtest/gtest.h>

#include "framework/name_pattern.h"
#include "models/network.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

TEST(NamePatternTest, AStarStandsForAnyCharactersAndForNone) {
  EXPECT_TRUE(matches("layer/*.bias", "layer/3/mlp/up.bias"));
  EXPECT_TRUE(matches("*a*a", "aa"));
  EXPECT_TRUE(matches("**", ""));
  EXPECT_FALSE(matches("a", "A"));
  EXPECT_FALSE(matches("*.bias", "bias"));
  EXPECT_FALSE(matches("layer", "layer/0"));
  EXPECT_EQ(patterns_in("a.*,,b"), (std::vector<std::string>{"a.*", "b"}));
  EXPECT_TRUE(patterns_in("").empty());
}

std::set<std::string> named(const std::string& model, const Sets& sets, const std::string& patterns) {
  const Network network = load_network(model, {}, sets);
  std::set<std::string> names;
  for (const VarId var : weights_named(network, patterns, "`freeze`")) names.insert(network.program.vars[var].name);
  return names;
}

std::set<std::string> in_gpt2(const std::string& patterns) {
  return named("gpt2", {{"layers", "2"}, {"width", "8"}, {"heads", "2"}, {"length", "4"}, {"vocab", "11"}}, patterns);
}

TEST(WeightsNamedTest, OwnNamesAndThoseOfALibraryMeanTheSame) {
  const std::set<std::string> biases = {"layer/0/mlp/up.bias", "layer/1/mlp/up.bias"};
  EXPECT_EQ(in_gpt2("*/mlp/up.bias"), biases);
  EXPECT_EQ(in_gpt2("h.*.mlp.c_fc.bias"), biases);
  EXPECT_EQ(in_gpt2("transformer.h.*.mlp.c_fc.bias"), biases);
  EXPECT_EQ(in_gpt2("lm_head.*"), std::set<std::string>{"tokens.weight"});  // the tied head's name
  EXPECT_EQ(in_gpt2("wpe.*,norm.bias"), (std::set<std::string>{"norm.bias", "positions.weight"}));
}

TEST(WeightsNamedTest, APatternThatMeansNothingIsRefused) {
  EXPECT_TRUE(fails_with("`freeze`: no parameter is called 'norm.bais'; did you mean 'norm.bias'?",
                         [] { in_gpt2("tokens.*,norm.bais"); }));
  EXPECT_TRUE(fails_with("`freeze`: ',,' names no pattern", [] { in_gpt2(",,"); }));
  EXPECT_TRUE(in_gpt2("").empty()) << "nothing is said";
}

TEST(WeightsNamedTest, PartsOfAParameterAreNotMeantAlone) {
  const Sets small = {{"layers", "1"}, {"width", "8"},  {"heads", "2"}, {"kv_heads", "1"},
                      {"hidden", "8"}, {"length", "4"}, {"vocab", "11"}};
  EXPECT_TRUE(fails_with("'*.q_proj.weight' means a part of the parameter 'layer/0/attention/qkv.weight'",
                         [&] { named("llama", small, "*.q_proj.weight"); }));
  EXPECT_EQ(named("llama", small, "*_proj.weight").count("layer/0/attention/qkv.weight"), 1U);
}

}  // namespace
}  // namespace lethe::testing
