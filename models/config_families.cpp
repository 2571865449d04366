#include "models/config_families.h"

#include <algorithm>

#include "framework/did_you_mean.h"
#include "models/document.h"
#include "models/format.h"

namespace lethe {
namespace {

/// What transformers and timm write for any model: how it is used, named and stored, and how it was trained.
constexpr const char* kEveryFamily = R"({
  "keys": {
    "is_encoder_decoder": {"is": [false]},
    "is_decoder": {"is": [false]},
    "add_cross_attention": {"is": [false]},
    "pruned_heads": {"is": [{}]},
    "quantization_config": {"is": []}
  },
  "pass": [
    "model_type", "architecture", "architectures", "_name_or_path", "_commit_hash", "_attn_implementation*",
    "transformers_version", "torch_dtype", "dtype", "torchscript", "use_bfloat16", "tokenizer_class", "prefix",
    "*_token_id", "use_cache", "output_attentions", "output_hidden_states", "output_scores", "return_dict*",
    "chunk_size_feed_forward", "gradient_checkpointing", "tf_legacy_loss", "tie_encoder_decoder",
    "initializer_range", "problem_type", "finetuning_task", "task_specific_params", "id2label", "label2id",
    "max_length", "min_length", "do_sample", "early_stopping", "num_beams", "num_beam_groups", "diversity_penalty",
    "temperature", "top_k", "top_p", "typical_p", "repetition_penalty", "length_penalty", "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size", "bad_words_ids", "num_return_sequences", "remove_invalid_values",
    "exponential_decay_length_penalty", "suppress_tokens", "begin_suppress_tokens", "pretrained_cfg*",
    "*num_labels", "label_names", "label_descriptions", "auto_map", "custom_pipelines", "unsloth_*",
    "transformers.js_config", "output_past"
  ]
})";

ConfigFamily every_family() {
  static const JsonSource source("what every family has", kEveryFamily);
  ConfigFamily family;
  family.keys = source.root().at("keys").members();
  for (const JsonNode& pattern : source.root().at("pass").items()) family.passed_over.push_back(pattern.text());
  return family;
}

/// Puts an entry in the place of the one with that name, else at the end.
void put(ConfigFamily::Entries& entries, const std::string& name, const JsonNode& node) {
  const auto same = std::ranges::find(entries, name, &std::pair<std::string, JsonNode>::first);
  if (same == entries.end())
    entries.emplace_back(name, node);
  else
    same->second = node;
}

std::vector<std::string> members_of(const JsonNode& document, const char* key) {
  std::vector<std::string> names;
  if (document.has(key))
    for (const auto& [name, node] : document.at(key).members()) names.push_back(name);
  return names;
}

void check_known(const JsonNode& node, const char* what, const std::string& name,
                 const std::vector<std::string>& known) {
  if (std::ranges::count(known, name) == 0)
    node.fail("no ", what, ' ', quote(name), did_you_mean(name, known),
              "; known: ", known.empty() ? "none" : joined(known));
}

class FamilyReader {
 public:
  FamilyReader(const JsonNode& document, const std::vector<ConfigFamily>& before)
      : vars_(members_of(document, "vars")), variants_(members_of(document, "variants")), before_(before) {}

  ConfigFamily read(const std::string& name, const JsonNode& node) const {
    check_object(node, "a family", config_family_keys());
    ConfigFamily family = begun(node);
    family.name = name;
    if (node.has("variant")) {
      family.variant = node.at("variant").text();
      check_known(node.at("variant"), "variant", family.variant, variants_);
    }
    if (node.has("set"))
      for (const auto& [var, value] : node.at("set").members()) {
        check_known(value, "var", var, vars_);
        put(family.sets, var, value);
      }
    if (node.has("keys"))
      for (const auto& [path, entry] : node.at("keys").members()) {
        check_entry(entry);
        put(family.keys, path, entry);
      }
    if (node.has("pass"))
      for (const JsonNode& pattern : node.at("pass").items()) family.passed_over.push_back(pattern.text());
    return family;
  }

 private:
  /// What it is like, or what every family has.
  ConfigFamily begun(const JsonNode& node) const {
    if (!node.has("like")) return every_family();
    const JsonNode like = node.at("like");
    std::vector<std::string> known;
    for (const ConfigFamily& family : before_) known.push_back(family.name);
    check_known(like, "family before this one is called", like.text(), known);
    return *std::ranges::find(before_, like.text(), &ConfigFamily::name);
  }

  void check_entry(const JsonNode& entry) const {
    check_object(entry, "a key of a config.json", config_entry_keys());
    for (const char* of : {"var", "most"})
      if (entry.has(of)) check_known(entry.at(of), "var", entry.at(of).text(), vars_);
    if (entry.has("let")) check_identifier(entry.at("let"), entry.at("let").text());
    if (entry.has("is")) entry.at("is").items();
    for (const char* expression : {"if", "check"})
      if (entry.has(expression) && !entry.at(expression).text().starts_with('='))
        entry.at(expression).fail("found ", entry.at(expression).shown(), ", expected an \"=expression\"");
    if (entry.has("values"))
      for (const auto& [text, value] : entry.at("values").members())
        if (!value.json().is_number() && !value.json().is_boolean())
          value.fail("found ", value.shown(), ", expected a number, true or false");
  }

  std::vector<std::string> vars_, variants_;
  const std::vector<ConfigFamily>& before_;
};

}  // namespace

std::vector<ConfigFamily> config_families(const JsonNode& document) {
  std::vector<ConfigFamily> families;
  if (document.has("config"))
    for (const auto& [name, node] : document.at("config").members())
      families.push_back(FamilyReader(document, families).read(name, node));
  return families;
}

}  // namespace lethe
