#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "framework/error.h"
#include "models/json_source.h"
#include "train/data/data_files.h"
#include "train/data/tokenizer.h"

namespace lethe {
namespace {

using RuleJson = nlohmann::json;  // sorted: looks keys up fast
using RulePlace = RuleJson::json_pointer;

/// The values that a file may have at a place; GPT-2's have the first.
struct PairRule {
  const char* place;
  std::vector<RuleJson> allowed;
  bool required = false;
};

struct RuleFile {
  const char* name;
  std::vector<PairRule> rules;
  const char* added;  // where it lists tokens beside those that merges make
};

const std::vector<RuleFile>& rule_files() {
  static const std::vector<RuleFile> files = {
      {"tokenizer.json",
       {{"/normalizer", {nullptr}},
        {"/pre_tokenizer/type", {"ByteLevel"}, true},
        {"/pre_tokenizer/add_prefix_space", {false}},
        {"/pre_tokenizer/use_regex", {true}},
        {"/model/type", {"BPE"}},
        {"/model/dropout", {nullptr, 0}},
        {"/model/continuing_subword_prefix", {"", nullptr}},
        {"/model/end_of_word_suffix", {"", nullptr}},
        {"/model/byte_fallback", {false}},
        {"/model/ignore_merges", {false}}},
       "/added_tokens"},
      {"tokenizer_config.json",
       {{"/tokenizer_class", {"GPT2Tokenizer", "GPT2TokenizerFast", "PreTrainedTokenizerFast"}},
        {"/add_prefix_space", {false}}},
       "/added_tokens_decoder"}};
  return files;
}

/// Without vocabulary and merges, which are most of it.
RuleJson read_rules(const std::string& file) {
  const FileBytes bytes = read_file(file);
  bool deep = false;
  const auto keeps = [&](int depth, RuleJson::parse_event_t event, RuleJson& value) {
    deep |= depth > kDeepestJson;
    return !deep && !(event == RuleJson::parse_event_t::key && (value == "vocab" || value == "merges"));
  };
  RuleJson json = RuleJson::parse(bytes.begin(), bytes.end(), keeps, false);
  check_as(Exit::Data, !json.is_discarded() && !deep, file, ": is no JSON");
  return json;
}

std::string shown(const RuleJson& value) { return shortened(value.dump()); }

void check_rule(const RuleJson& json, const PairRule& rule) {
  const RulePlace place(rule.place);
  const bool stated = json.contains(place);
  const bool as_gpt2 = stated ? std::ranges::count(rule.allowed, json.at(place)) > 0 : !rule.required;
  check_as(Exit::Data, as_gpt2, rule.place + 1, " is ", stated ? shown(json.at(place)) : "missing",
           ", where GPT-2's files say ", shown(rule.allowed.front()), "; merges are read by GPT-2's rule alone");
}

/// Marks such as <|endoftext|> are special: a text that spells one stays text here.
void check_added(const RuleJson& json, const char* where) {
  const RulePlace place(where);
  if (!json.contains(place)) return;
  for (const RuleJson& token : json.at(place)) {
    if (!token.is_object() || token.value("special", RuleJson(true)) != false) continue;
    const RuleJson content = token.value("content", RuleJson());
    fail_as(Exit::Data, where + 1, ": finds the token ", quote(content.is_string() ? content.get<std::string>() : ""),
            " in texts, which no merge makes; merges are read by GPT-2's rule alone");
  }
}

}  // namespace

void check_rules_of_gpt2(const std::string& directory) {
  for (const RuleFile& each : rule_files()) {
    const std::string file = directory + "/" + each.name;
    if (!std::filesystem::exists(file)) continue;
    const RuleJson json = read_rules(file);
    with_context(file, [&] {
      for (const PairRule& rule : each.rules) check_rule(json, rule);
      check_added(json, each.added);
    });
  }
}

}  // namespace lethe
