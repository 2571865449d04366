// Networks by the config.json that published models of Hugging Face have, as transformers 4 wrote them: as many
// parameters as those.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "models/config.h"

namespace lethe::testing {
namespace {

struct PublishedConfig {
  const char* name;
  std::int64_t parameters;
  const char* config;
};

void PrintTo(const PublishedConfig& row, std::ostream* out) { *out << row.name; }

const PublishedConfig kConfigs[] = {
    {"TinyLlama", 1100048384, R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "bos_token_id": 1,
      "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
      "intermediate_size": 5632, "max_position_embeddings": 2048, "model_type": "llama", "num_attention_heads": 32,
      "num_hidden_layers": 22, "num_key_value_heads": 4, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
      "rope_scaling": null, "rope_theta": 10000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
      "transformers_version": "4.35.0", "use_cache": true, "vocab_size": 32000})"},
    {"SmolLM2", 134515008, R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false,
      "attention_dropout": 0.0, "bos_token_id": 0, "eos_token_id": 0, "hidden_act": "silu", "hidden_size": 576,
      "initializer_range": 0.041666666666666664, "intermediate_size": 1536, "is_llama_config": true,
      "max_position_embeddings": 8192, "model_type": "llama", "num_attention_heads": 9, "num_hidden_layers": 30,
      "num_key_value_heads": 3, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_interleaved": false,
      "rope_scaling": null, "rope_theta": 100000, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
      "transformers_version": "4.40.1", "use_cache": true, "vocab_size": 49152})"},
    {"Llama32", 1235814400, R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false,
      "attention_dropout": 0.0, "bos_token_id": 128000, "eos_token_id": 128001, "head_dim": 64, "hidden_act": "silu",
      "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 8192, "max_position_embeddings": 131072,
      "mlp_bias": false, "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 16,
      "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
      "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                       "original_max_position_embeddings": 8192, "rope_type": "llama3"},
      "rope_theta": 500000.0, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
      "transformers_version": "4.45.0", "use_cache": true, "vocab_size": 128256})"},
    {"Mistral", 7248023552, R"({"architectures": ["MistralForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1,
      "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
      "intermediate_size": 14336, "max_position_embeddings": 32768, "model_type": "mistral",
      "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
      "rope_theta": 1000000.0, "sliding_window": null, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
      "transformers_version": "4.42.0", "use_cache": true, "vocab_size": 32768})"},
    {"Qwen25", 494032768, R"({"architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 151643,
      "eos_token_id": 151643, "hidden_act": "silu", "hidden_size": 896, "initializer_range": 0.02,
      "intermediate_size": 4864, "max_position_embeddings": 32768, "max_window_layers": 24, "model_type": "qwen2",
      "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2, "rms_norm_eps": 1e-06,
      "rope_theta": 1000000.0, "sliding_window": 32768, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
      "transformers_version": "4.40.1", "use_cache": true, "use_mrope": false, "use_sliding_window": false,
      "vocab_size": 151936})"},
    {"Qwen3", 596049920, R"({"architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
      "bos_token_id": 151643, "eos_token_id": 151645, "head_dim": 128, "hidden_act": "silu", "hidden_size": 1024,
      "initializer_range": 0.02, "intermediate_size": 3072, "max_position_embeddings": 40960,
      "max_window_layers": 28, "model_type": "qwen3", "num_attention_heads": 16, "num_hidden_layers": 28,
      "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000,
      "sliding_window": null, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
      "transformers_version": "4.51.0", "use_cache": true, "use_sliding_window": false, "vocab_size": 151936})"},
    {"Gemma", 2506172416, R"({"architectures": ["GemmaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
      "bos_token_id": 2, "eos_token_id": 1, "head_dim": 256, "hidden_act": "gelu", "hidden_activation": null,
      "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 16384, "max_position_embeddings": 8192,
      "model_type": "gemma", "num_attention_heads": 8, "num_hidden_layers": 18, "num_key_value_heads": 1,
      "pad_token_id": 0, "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 10000.0,
      "torch_dtype": "bfloat16", "transformers_version": "4.38.0.dev0", "use_cache": true, "vocab_size": 256000})"},
};

class PublishedConfigs : public ::testing::TestWithParam<PublishedConfig> {};

TEST_P(PublishedConfigs, HaveTheirParameters) {
  const std::string file = ::testing::TempDir() + "lethe_published_" + std::to_string(getpid()) + ".json";
  std::ofstream(file) << GetParam().config;
  const ConfiguredNetwork found = read_config(file);
  std::filesystem::remove(file);
  std::int64_t parameters = 0;
  for (const Var& var : load_network(found.model, {}, found.sets).program.vars)
    if (var.kind == Kind::Param) parameters += elements(var.shape);
  EXPECT_EQ(parameters, GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(HuggingFace, PublishedConfigs, ::testing::ValuesIn(kConfigs),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lethe::testing
