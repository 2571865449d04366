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
    {"Gpt2Medium", 354823168, R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"],
      "attn_pdrop": 0.1, "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
      "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_positions": 1024, "resid_pdrop": 0.1,
      "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
      "summary_type": "cls_index", "summary_use_proj": true,
      "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 50257,
      "n_embd": 1024, "n_head": 16, "n_layer": 24, "n_special": 0, "predict_special_tokens": true})"},
    {"Gpt2Xl", 1557611200, R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"],
      "attn_pdrop": 0.1, "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
      "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_positions": 1024, "resid_pdrop": 0.1,
      "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
      "summary_type": "cls_index", "summary_use_proj": true,
      "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 50257,
      "n_embd": 1600, "n_head": 25, "n_layer": 48, "output_past": true})"},
    {"DistilGpt2", 81912576, R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"],
      "attn_pdrop": 0.1, "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
      "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_positions": 1024, "resid_pdrop": 0.1,
      "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
      "summary_type": "cls_index", "summary_use_proj": true,
      "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 50257,
      "n_embd": 768, "n_head": 12, "n_layer": 6, "_num_labels": 1, "id2label": {"0": "LABEL_0"},
      "label2id": {"LABEL_0": 0}})"},
    {"Bert", 109483778, R"({"architectures": ["BertForMaskedLM"], "attention_probs_dropout_prob": 0.1,
      "gradient_checkpointing": false, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 768,
      "initializer_range": 0.02, "intermediate_size": 3072, "layer_norm_eps": 1e-12, "max_position_embeddings": 512,
      "model_type": "bert", "num_attention_heads": 12, "num_hidden_layers": 12, "pad_token_id": 0,
      "position_embedding_type": "absolute", "transformers_version": "4.6.0.dev0", "type_vocab_size": 2,
      "use_cache": true, "vocab_size": 30522})"},
    {"OldBertOfThreeLabels", 109484547, R"({"attention_probs_dropout_prob": 0.1, "hidden_act": "gelu",
      "hidden_dropout_prob": 0.1, "hidden_size": 768, "initializer_range": 0.02, "intermediate_size": 3072,
      "max_position_embeddings": 512, "model_type": "bert", "num_attention_heads": 12, "num_hidden_layers": 12,
      "num_labels": 3, "type_vocab_size": 2, "vocab_size": 30522})"},
    {"Vit", 85800194, R"({"architectures": ["ViTModel"], "attention_probs_dropout_prob": 0.0, "hidden_act": "gelu",
      "hidden_dropout_prob": 0.0, "hidden_size": 768, "image_size": 224, "initializer_range": 0.02,
      "intermediate_size": 3072, "layer_norm_eps": 1e-12, "model_type": "vit", "num_attention_heads": 12,
      "num_channels": 3, "num_hidden_layers": 12, "patch_size": 16, "qkv_bias": true,
      "transformers_version": "4.13.0.dev0"})"},
    {"VitOfTimm", 22050664, R"({"architecture": "vit_small_patch16_224", "num_classes": 1000, "num_features": 384,
      "global_pool": "token", "pretrained_cfg": {"tag": "augreg_in21k_ft_in1k", "custom_load": false,
      "input_size": [3, 224, 224], "fixed_input_size": true, "interpolation": "bicubic", "crop_pct": 0.9,
      "crop_mode": "center", "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5], "num_classes": 1000, "pool_size": null,
      "first_conv": "patch_embed.proj", "classifier": "head"}})"},
    {"ResNet50OfTimm", 25557032, R"({"architecture": "resnet50", "num_classes": 1000, "num_features": 2048,
      "pretrained_cfg": {"tag": "a1_in1k", "custom_load": false, "input_size": [3, 224, 224],
      "test_input_size": [3, 288, 288], "fixed_input_size": false, "interpolation": "bicubic", "crop_pct": 0.95,
      "test_crop_pct": 1.0, "crop_mode": "center", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225],
      "num_classes": 1000, "pool_size": [7, 7], "first_conv": "conv1", "classifier": "fc",
      "origin_url": "https://github.com/huggingface/pytorch-image-models", "paper_ids": "arXiv:2110.00476"}})"},
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
