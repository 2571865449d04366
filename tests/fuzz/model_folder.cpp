// Of a folder as Hugging Face has them: config.json, and the index of weights beside one of its files.
#include "models/config.h"
#include "tests/fuzz/fuzz.h"
#include "train/session/library_weights.h"
#include "train/session/safetensors.h"

namespace lethe::fuzz {
namespace {

constexpr const char* kFile = "model-1.safetensors";

void save_in(const Directory& directory) {
  SafetensorsWriter writer(directory.path() + '/' + kFile, {{.name = "wte.weight", .shape = {2, 3}}});
  writer.write(std::vector<std::byte>(24));
  writer.finish();
}

}  // namespace

Material material() {
  return {
      .seeds = {R"({"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_inner": null, "id2label": {"0": "a"}})",
                R"({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2, "max_position_embeddings": 64,
                   "rms_norm_eps": 1e-05, "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"},
                   "rope_scaling": {"type": "default"}})",
                R"({"metadata": {"total_size": 24}, "weight_map": {"wte.weight": "model-1.safetensors"}})"},
      .words = {"\"model_type\":",
                "\"architecture\":",
                "\"weight_map\":",
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

}  // namespace lethe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lethe;
  static const fuzz::Directory directory;
  static const bool saved = (fuzz::save_in(directory), true);
  const std::string_view text = fuzz::text_of(data, size);
  const std::string config = directory.put("config.json", text);
  fuzz::reads({Exit::Data}, [&] { read_config(config); });
  const std::string index = directory.put("model.safetensors.index.json", text);
  fuzz::reads({Exit::Data}, [&] {
    const std::unique_ptr<TensorReader> reader = open_weights(index);
    for (const TensorEntry& tensor : reader->tensors()) reader->read(tensor);
  });
  return saved ? 0 : 1;
}
