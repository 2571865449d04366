#include "train/data/tokenizer_json.h"

#include <algorithm>

#include "framework/error.h"
#include "train/data/checksum.h"
#include "train/data/token_lists.h"

namespace lethe {
namespace {

TokenNumbers numbers_of(const Rule& vocabulary) {
  if (!vocabulary.json().is_object()) vocabulary.refuse("{\"token\": number}");
  TokenNumbers numbers;
  for (const auto& [token, number] : vocabulary.json().items())
    numbers.emplace(token, static_cast<std::int32_t>(Rule(number, "model/vocab/" + token).number(-1)));
  return numbers;
}

/// Adds tokens that merges need not make to the vocabulary.
std::vector<AddedToken> read_added(const Rule& list, bool has_form, TokenNumbers& numbers) {
  std::vector<AddedToken> added;
  for (const Rule& token : list.items()) {
    token.only({"id", "content", "special", "single_word", "lstrip", "rstrip", "normalized"});
    token["single_word"].expect({false, nullptr});
    if (has_form) token["normalized"].expect({false, nullptr});
    const AddedToken read{.text = token["content"].text(),
                          .number = static_cast<std::int32_t>(token["id"].number(-1)),
                          .takes_left = token["lstrip"].flag(false),
                          .takes_right = token["rstrip"].flag(false)};
    const auto [known, is_new] = numbers.emplace(read.text, read.number);
    if (known->second != read.number) token["id"].refuse(message("the vocabulary's ", known->second));
    added.push_back(read);
  }
  return added;
}

/// Of all that decides which tokens a text becomes but vocabulary and merges.
std::uint32_t checksum_of_rules(const RuleJson& json, std::uint32_t before) {
  for (const char* key : {"added_tokens", "normalizer", "pre_tokenizer", "post_processor", "model"}) {
    RuleJson part = json.contains(key) ? json.at(key) : RuleJson();
    if (part.is_object()) {
      part.erase("vocab");
      part.erase("merges");
    }
    before = checksum_of(part.dump(), before);
  }
  return before;
}

/// The ids of a special token that a template names.
std::vector<std::int32_t> ids_of(const Rule& processor, const std::string& name) {
  std::vector<std::int32_t> ids;
  const Rule list = processor["special_tokens"][name]["ids"];
  if (list.is_null()) list.refuse("the numbers of the token");
  for (const Rule& id : list.items()) ids.push_back(static_cast<std::int32_t>(id.number(0)));
  return ids;
}

Frame frame_of_template(const Rule& processor) {
  Frame frame;
  bool has_text = false;
  for (const Rule& item : processor["single"].items()) {
    if (const Rule token = item["SpecialToken"]; !token.is_null()) {
      const std::vector<std::int32_t> ids = ids_of(processor, token["id"].text());
      std::vector<std::int32_t>& side = has_text ? frame.after : frame.before;
      side.insert(side.end(), ids.begin(), ids.end());
    } else {
      item["Sequence"]["id"].expect({"A"});
      if (std::exchange(has_text, true)) item.refuse("the text once");
    }
  }
  if (!has_text) processor["single"].refuse("a text between tokens");
  return frame;
}

bool has_byte_level(const Rule& pre) {
  return std::ranges::any_of(pre.steps("pretokenizers"), [](const Rule& step) { return step.type() == "ByteLevel"; });
}

std::vector<std::int32_t> token_of_pair(const Rule& pair) {
  if (pair.items().size() != 2) pair.refuse("[\"token\", number]");
  return {static_cast<std::int32_t>(pair.items()[1].number(0))};
}

}  // namespace

Frame read_frame(const Rule& processor) {
  Frame frame;
  for (const Rule& step : processor.steps("processors")) {
    const std::string type = step.type();
    if (type == "ByteLevel") continue;
    if (type == "TemplateProcessing")
      frame = frame_of_template(step);
    else if (type == "BertProcessing" || type == "RobertaProcessing")
      frame = {.before = token_of_pair(step["cls"]), .after = token_of_pair(step["sep"])};
    else
      step["type"].refuse("TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel");
  }
  return frame;
}

TokenRules read_tokenizer_json(const RuleJson& json) {
  const Rule root(json), model = root["model"];
  TokenNumbers numbers = numbers_of(model["vocab"]);
  TokenRules rules;
  rules.added = read_added(root["added_tokens"], !root["normalizer"].is_null(), numbers);
  rules.texts = tokens_by_number(numbers);
  rules.frame = read_frame(root["post_processor"]);
  model["type"].expect({"BPE", "WordPiece", nullptr});
  if (model.type() == "WordPiece")
    read_word_pieces(root, numbers, rules);
  else if (has_byte_level(root["pre_tokenizer"]))
    read_byte_pairs(root, numbers, rules);
  else
    read_character_pairs(root, numbers, rules);
  if (rules.kind != TokenKind::WordPieces)  // which are words like others
    for (const AddedToken& token : rules.added) rules.texts[static_cast<std::size_t>(token.number)] = token.text;
  for (const auto& side : {rules.frame.before, rules.frame.after})
    for (const std::int32_t token : side)
      check_as(Exit::Data, token < std::ssize(rules.texts), "post_processor: puts token ", token,
               " beside a text, but there are ", rules.texts.size());
  rules.checksum = checksum_of_rules(json, rules.checksum);
  return rules;
}

TokenRules read_tokenizer_json(const std::string& file) {
  const RuleJson json = read_rules(file, true);
  return with_context(file, [&] { return read_tokenizer_json(json); });
}

}  // namespace lethe
