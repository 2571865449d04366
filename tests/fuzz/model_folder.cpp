// Of a folder as Hugging Face has them: config.json, the index of weights beside one of its files, and what it says of
// pixels, embeddings and adapters.
#include <filesystem>

#include "models/config.h"
#include "tests/fuzz/fuzz.h"
#include "train/folder_meaning.h"
#include "train/session/adapter_config.h"
#include "train/session/embedder.h"
#include "train/session/library_weights.h"
#include "train/session/safetensors.h"

namespace lethe::fuzz::model_folder_target {
namespace {

constexpr const char* kFile = "model-1.safetensors";

void save_in(const Directory& directory) {
  SafetensorsWriter writer(directory.path() + '/' + kFile, {{.name = "wte.weight", .shape = {2, 3}}});
  writer.write(std::vector<std::byte>(24));
  writer.finish();
  std::filesystem::create_directory(directory.path() + "/1_Pooling");
}

Material material() {
  return {
      .seeds = {R"({"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_inner": null, "id2label": {"0": "a"}})",
                R"({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2, "max_position_embeddings": 64,
                   "rms_norm_eps": 1e-05, "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"},
                   "rope_scaling": {"type": "default"}})",
                R"({"peft_type": "LORA", "r": 4, "lora_alpha": 4.5, "target_modules": ["c_attn"], "bias": "none",
                   "rank_pattern": {"^h.0.attn.c_attn": 2}, "modules_to_save": ["ln_f"], "use_dora": false})",
                R"({"do_normalize": true, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]})",
                R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false, "max_seq_length": 256})",
                R"({"metadata": {"total_size": 24}, "weight_map": {"wte.weight": "model-1.safetensors"}})"},
      .words = {"\"model_type\":",
                "\"architecture\":",
                "\"weight_map\":",
                "\"alpha_pattern\":",
                "\"gpt2\"",
                "\"llama\"",
                "\"qwen3\"",
                "\"mistral\"",
                "\"n_layer\":",
                "\"head_dim\":",
                "\"rope_scaling\":",
                "\"factor\":",
                "\"layer_types\":",
                "\"sliding_attention\"",
                "\"=width\"",
                "../",
                "[",
                "]",
                "{",
                "}",
                "null",
                "true",
                "0",
                "-1",
                "1e308",
                "18446744073709551615",
                "\\n"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static const Directory directory;
  [[maybe_unused]] static const bool saved = (save_in(directory), true);
  const std::string_view text = text_of(data, size);
  const std::string config = directory.put("config.json", text);
  reads({Exit::Data}, [&] { read_config(config); });
  const std::string index = directory.put("model.safetensors.index.json", text);
  reads({Exit::Data}, [&] {
    const std::unique_ptr<TensorReader> reader = open_weights(index);
    for (const TensorEntry& tensor : reader->tensors()) reader->read(tensor);
  });
  const std::string adapter = directory.put("adapter_config.json", text);
  reads({Exit::Data}, [&] { read_adapter_config(adapter); });
  directory.put("preprocessor_config.json", text);
  reads({Exit::Data}, [&] { meaning_in(directory.path(), {}); });
  directory.put("1_Pooling/config.json", text);
  directory.put("sentence_bert_config.json", text);
  reads({Exit::Data}, [&] { tokens_pooled(directory.path()); });
}

const RegisterTarget target{{"model_folder", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::model_folder_target
