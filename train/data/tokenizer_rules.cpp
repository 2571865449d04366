// Whether the files beside GPT-2's merges say that they are to be read by GPT-2's rule.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "framework/error.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/tokenizer_source.h"

namespace lethe {
namespace {

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
  const char* added = nullptr;  // where it lists tokens beside those that merges make
  bool gives_way = false;       // to tokenizer.json, which says more of the rule
};

const std::vector<RuleFile>& rule_files() {
  static const std::vector<RuleFile> files = {
      {"tokenizer.json",
       {{"/normalizer", {nullptr}},
        {"/pre_tokenizer/type", {"ByteLevel"}, true},
        {"/pre_tokenizer/add_prefix_space", {false}},
        {"/pre_tokenizer/use_regex", {true}},
        {"/post_processor/type", {"ByteLevel", nullptr}},
        {"/model/type", {"BPE"}},
        {"/model/dropout", {nullptr, 0}},
        {"/model/continuing_subword_prefix", {"", nullptr}},
        {"/model/end_of_word_suffix", {"", nullptr}},
        {"/model/byte_fallback", {false}},
        {"/model/ignore_merges", {false}}},
       "/added_tokens"},
      {"tokenizer_config.json",
       {{"/tokenizer_class", {"GPT2Tokenizer", "GPT2TokenizerFast", "PreTrainedTokenizerFast"}},
        {"/add_prefix_space", {false, nullptr}},
        {"/add_bos_token", {false, nullptr}}},
       "/added_tokens_decoder"},
      {"config.json", {{"/model_type", {"gpt2"}}}, nullptr, true}};
  return files;
}

std::string why_not(const RuleJson& json, const PairRule& rule) {
  const RulePlace place(rule.place);
  const bool stated = json.contains(place);
  if (stated ? std::ranges::count(rule.allowed, json.at(place)) > 0 : !rule.required) return "";
  return message(rule.place + 1, " is ", stated ? shortened(json.at(place).dump()) : "missing",
                 ", where GPT-2's files say ", rule.allowed.front().dump());
}

/// GPT-2 has one mark, and a text that spells it stays text.
std::string why_not_added(const RuleJson& json, const char* where) {
  if (!where) return "";
  const RulePlace place(where);
  if (!json.contains(place)) return "";
  for (const RuleJson& token : json.at(place)) {
    if (!token.is_object()) continue;
    const RuleJson content = token.value("content", RuleJson());
    if (content == kEndOfText && token.value("special", RuleJson(true)) != false) continue;
    return message(where + 1, ": has the token ", quote(content.is_string() ? content.get<std::string>() : ""),
                   ", which GPT-2's files have not");
  }
  return "";
}

}  // namespace

std::string why_not_gpt2(const std::string& directory) {
  const auto in_folder = [&](const char* name) { return directory + "/" + name; };
  const bool has_json = std::filesystem::exists(in_folder("tokenizer.json"));
  for (const RuleFile& each : rule_files()) {
    const std::string file = in_folder(each.name);
    if (!std::filesystem::exists(file) || (each.gives_way && has_json)) continue;
    const RuleJson json = read_rules(file, false);
    std::vector<std::string> reasons = {why_not_added(json, each.added)};
    for (const PairRule& rule : each.rules) reasons.push_back(why_not(json, rule));
    for (const std::string& reason : reasons)
      if (!reason.empty()) return message(file, ": ", reason);
  }
  const std::string file = in_folder(kAddedFile);
  if (!std::filesystem::exists(file)) return "";
  const RuleJson added = read_rules(file, false);
  for (const auto& token : added.items())
    if (token.key() != kEndOfText)
      return message(file, ": has the token ", quote(token.key()), ", which GPT-2's files have not");
  return "";
}

}  // namespace lethe
