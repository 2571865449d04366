// What the zoo's network files make of a config.json.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "models/config.h"

namespace lethe::testing {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& text) { return '"' + text + '"'; }

TEST(ConfigOfTheZoo, GPT2AndLlamaAsTransformersWritesThem) {
  const fs::path folder = fs::temp_directory_path() / ("lethe_zoo_config_" + std::to_string(::getpid()));
  fs::create_directory(folder);
  const auto read = [&](const std::string& text) {
    std::ofstream(folder / "config.json") << text;
    return read_config((folder / "config.json").string());
  };
  const Sets gpt2 = read(R"({"activation_function": "gelu_new", "add_cross_attention": false, "attn_pdrop": 0.1,
    "architectures": ["GPT2LMHeadModel"], "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256,
    "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_embd": 64, "n_head": 4,
    "n_inner": null, "n_layer": 3, "n_positions": 32, "pad_token_id": null, "reorder_and_upcast_attn": false,
    "resid_pdrop": 0.1, "scale_attn_by_inverse_layer_idx": false, "scale_attn_weights": true,
    "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
    "summary_type": "cls_index", "summary_use_proj": true, "tie_word_embeddings": true,
    "transformers_version": "5.24.0", "use_cache": true, "vocab_size": 100})")
                        .sets;
  EXPECT_EQ(gpt2, (Sets{{"heads", "4"},
                        {"hidden", "256"},
                        {"layers", "3"},
                        {"length", "32"},
                        {"norm_eps", "1e-05"},
                        {"positions", "32"},
                        {"vocab", "100"},
                        {"width", "64"}}));
  const ConfiguredNetwork llama =
      read(R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
    "bos_token_id": 1, "eos_token_id": 2, "head_dim": 16, "hidden_act": "silu", "hidden_size": 64,
    "initializer_range": 0.02, "intermediate_size": 96, "max_position_embeddings": 128, "mlp_bias": false,
    "model_type": "llama", "num_attention_heads": 4, "num_hidden_layers": 2, "num_key_value_heads": 2,
    "pad_token_id": null, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
    "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"}, "tie_word_embeddings": false,
    "transformers_version": "5.24.0", "use_cache": true, "vocab_size": 100})");
  EXPECT_EQ(llama.model, "llama");
  EXPECT_EQ(llama.sets.at("length"), "128");
  EXPECT_EQ(llama.sets.at("kv_heads"), "2");
  EXPECT_EQ(llama.sets.at("hidden"), "96");
  EXPECT_NO_THROW(load_network(llama.model, {}, llama.sets));
  EXPECT_NO_THROW(load_network("gpt2", {}, gpt2));
  EXPECT_EQ(read(R"({"model_type": "gpt2"})").sets.at("width"), "768");  // what is absent is as transformers has it
  fs::remove_all(folder);
}

TEST(ConfigOfTheZoo, WrongSizesAndFlagsAreRefusedAtTheirKeys) {
  const fs::path file = fs::temp_directory_path() / ("lethe_size_config_" + std::to_string(::getpid()) + ".json");
  const auto place_of = [&](const std::string& kind, const std::string& key, const std::string& value) {
    std::ofstream(file) << '{' << quoted(kind.starts_with("vit_") ? "architecture" : "model_type") << ':'
                        << quoted(kind) << ",\n"
                        << quoted(key) << ": " << value << '}';
    try {
      read_config(file.string());
    } catch (const Error& error) {
      EXPECT_EQ(error.code, Exit::Data);
      return std::string(error.what()).substr(file.string().size(), 3);
    }
    return std::string("taken");
  };
  const std::vector<std::array<std::string, 3>> wrong = {
      {"llama", "tie_word_embeddings", "2"},
      {"llama", "attention_bias", "0.5"},
      {"llama", "num_attention_heads", "-4"},
      {"llama", "num_hidden_layers", "0"},
      {"llama", "vocab_size", "0"},
      {"llama", "hidden_act", "[\"silu\", \"swish\"]"},
      {"mistral", "sliding_window", "0"},
      {"gpt2", "n_head", "0"},
      {"gpt2", "n_layer", "1.5"},
      {"bert", "id2label", "{}"},
      {"bert", "num_labels", "0"},
      {"vit", "patch_size", "0"},
      {"vit_small_patch16_224", "num_classes", "0"},
      {"qwen2", "layer_types", "[\"full_attention\", \"full_attention\"]"}};
  for (const auto& [kind, key, value] : wrong) EXPECT_EQ(place_of(kind, key, value), ":2:") << key << ' ' << value;
  EXPECT_EQ(place_of("bert", "num_labels", "3"), "taken");
  fs::remove(file);
}

/// What a config.json of Qwen2 says of the window, beside the rest; "" where it is refused.
TEST(ConfigOfTheZoo, WindowsOfQwen2AreThoseOfAllLayersOrRefused) {
  const fs::path folder = fs::temp_directory_path() / ("lethe_qwen_config_" + std::to_string(::getpid()));
  fs::create_directory(folder);
  const auto window = [&](const std::string& more) -> std::string {
    std::ofstream(folder / "config.json") << R"({"model_type": "qwen2", "num_hidden_layers": 4, )" + more + "}";
    try {
      const Sets sets = read_config((folder / "config.json").string()).sets;
      return sets.contains("window") ? sets.at("window") : "none";
    } catch (const Error& error) {
      return std::string(error.what()).substr(std::string(error.what()).find('\''));
    }
  };
  EXPECT_EQ(window(R"("use_sliding_window": false, "sliding_window": 32, "max_window_layers": 2)"), "none");
  EXPECT_EQ(window(R"("use_sliding_window": true, "sliding_window": 32)"), "none") << "28 layers have none";
  EXPECT_EQ(window(R"("use_sliding_window": true, "sliding_window": 32, "max_window_layers": 0)"), "32");
  EXPECT_EQ(window(R"("use_sliding_window": true, "sliding_window": null, "max_window_layers": 0)"), "0");
  EXPECT_EQ(window(R"("use_sliding_window": true, "sliding_window": 32, "max_window_layers": 2)"),
            "'max_window_layers' is 2; llama.json needs (slides == 0) + (full_layers >= layers) + (full_layers <= 0)");
  EXPECT_EQ(window(R"("use_sliding_window": true, "sliding_window": 32, "max_window_layers": 4,
                      "layer_types": ["full_attention", "full_attention", "full_attention", "sliding_attention"])"),
            "'layer_types' is not the same for all layers, which llama.json does not honour");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace lethe::testing
