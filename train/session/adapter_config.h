// adapter_config.json as Hugging Face's PEFT has it: which low-rank adapters stand beside adapter_model.safetensors.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/builder/lora.h"

namespace lethe {

inline constexpr const char* kAdapterConfig = "adapter_config.json";

/// The keys that say something of the mathematics, with PEFT's defaults.
struct AdapterConfig {
  std::int64_t rank = 8;                        // r
  double alpha = 8, dropout = 0;                // lora_alpha, lora_dropout
  bool rslora = false, fan_in_fan_out = false;  // the latter: weights beside adapters stand transposed in its files
  std::vector<std::string> targets = {};        // target_modules: names of modules or their ends; "all-linear"
  std::vector<std::pair<std::string, std::int64_t>> ranks = {};  // rank_pattern: of the modules that a key means; the
  std::vector<std::pair<std::string, double>> alphas = {};       // first key that means one counts; alpha_pattern
  std::vector<std::string> saved = {};                           // modules_to_save: these train beside the adapters
  std::string base = {};                                         // base_model_name_or_path; "" if it says none
  std::string task = {};                                         // task_type; "" if it says none
};

/// Reads one. Fails (Exit::Data), naming the place, for adapters that are no LoRA or a form of it that is not known
/// here, and for a key that nobody knows unless it is null, false or empty.
AdapterConfig read_adapter_config(const std::string& file);
/// It as text of such a file.
std::string text_of(const AdapterConfig& config);

/// What it asks of a network, which knows a library's names: each module that has a rank or an alpha of its own is a
/// target by itself. Fails (Exit::Data), naming `file`, for a name or a pattern that means none of its modules, and if
/// weights stand transposed in it that do not.
LoraSetting lora_of(const AdapterConfig& config, const Network& network, const std::string& file);

/// The names of the weights that modules_to_save means: those of modules whose name ends so, as PEFT finds them. Fails
/// (Exit::Data), naming `file`, for a name that means none.
std::set<std::string> saved_weights(const AdapterConfig& config, const Network& network, const std::string& file);

/// What a library calls the rows of a weight that the adapter is beside: "model.layers.0.self_attn.q_proj"; none if it
/// knows no such rows.
std::optional<std::string> module_in(const Network& network, const WeightNames& names, const Adapter& adapter);
/// "h.0.ln_1" of "h.0.ln_1.bias".
std::string module_of_tensor(const std::string& tensor);

}  // namespace lethe
