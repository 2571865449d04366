// Adapters of networks of the zoo.
#include <gtest/gtest.h>

#include "framework/builder/lora.h"
#include "framework/error.h"
#include "models/network.h"

namespace lethe::testing {
namespace {

/// "module first+rows" of each adapter, in training and in evaluation the same.
std::vector<std::string> modules(const std::string& model, const Sets& sets, const std::vector<LoraTarget>& targets) {
  const auto of = [&](bool training) {
    std::vector<std::string> words;
    BuildOptions options{.training = training};
    options.logits = !training;
    const LoraSetting setting{.rank = 2, .targets = targets};
    EXPECT_TRUE(choose_trained(options, load_network(model, options, sets), {}, setting));
    for (const Adapter& a : load_network(model, options, sets).adapters)
      words.push_back(message(a.module, ' ', a.first, '+', a.rows));
    return words;
  };
  EXPECT_EQ(of(true), of(false));
  return of(true);
}

using Words = std::vector<std::string>;

TEST(ZooLora, HasTheDefaultsOfPeft) {
  const Sets small = {{"layers", "1"}, {"width", "8"}, {"heads", "2"}, {"length", "4"}, {"vocab", "11"}};
  EXPECT_EQ(modules("gpt2", small, {}), Words{"h.0.attn.c_attn 0+24"});
  Sets grouped = small;
  grouped["kv_heads"] = "1";
  EXPECT_EQ(modules("llama", grouped, {}),
            (Words{"model.layers.0.self_attn.q_proj 0+8", "model.layers.0.self_attn.v_proj 12+4"}));
  EXPECT_EQ(modules("bert_base", small, {}),
            (Words{"bert.encoder.layer.0.attention.self.query 0+8", "bert.encoder.layer.0.attention.self.value 16+8"}));
  EXPECT_EQ(modules("gpt2", small, {{.pattern = "c_proj"}, {.pattern = "wte"}}),
            (Words{"wte 0+11", "h.0.attn.c_proj 0+8", "h.0.mlp.c_proj 0+8"}));
  EXPECT_EQ(modules("gpt2", small, {{.pattern = "all-linear"}}).size(), 4U);
  EXPECT_EQ(modules("llama", grouped, {{.pattern = "all-linear"}}).size(), 7U);
}

}  // namespace
}  // namespace lethe::testing
