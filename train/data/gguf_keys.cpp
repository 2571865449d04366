#include "train/data/gguf_keys.h"

#include <algorithm>

#include "framework/error.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/gguf_tokenizer.h"
#include "train/data/tokenizer_json.h"

namespace lethe {
namespace {

/// As they stand in the other file.
std::vector<GgufEntry> keys_in(const std::string& file) {
  std::vector<GgufEntry> keys = read_gguf_header(file).entries;
  std::erase_if(keys, [](const GgufEntry& entry) { return !entry.key.starts_with("tokenizer."); });
  return keys;
}

GgufEntry key_of(const char* key, GgufType type, Json value) {
  return {.key = message("tokenizer.ggml.", key), .type = type, .value = std::move(value)};
}

/// The one token of a side of the frame; none without any.
void put_side(std::vector<GgufEntry>& keys, const std::vector<std::int32_t>& side, const char* flag, const char* id) {
  check_as(Exit::Data, side.size() <= 1, "puts ", side.size(), " tokens beside a text, GGUF files one");
  keys.push_back(key_of(flag, GgufType::Bool, !side.empty()));
  if (!side.empty() && id) keys.push_back(key_of(id, GgufType::U32, side.front()));
}

std::vector<GgufEntry> keys_of(const RuleJson& json, std::optional<std::int32_t> end) {
  const TokenRules rules = read_tokenizer_json(json);
  check_as(Exit::Data, rules.kind == TokenKind::Pairs, "has no byte pairs of bytes, which are written alone");
  const Rule model = Rule(json)["model"];
  const std::string words = gguf_words(rules, model["ignore_merges"].flag(false));
  check_as(Exit::Data, !words.empty(), "cuts or changes texts by a rule that no GGUF file says");
  std::vector<std::string> tokens(rules.texts.size());
  std::vector<std::int32_t> types(tokens.size(), 1);
  for (const auto& [token, number] : model["vocab"].json().items()) tokens[number.get<std::size_t>()] = token;
  for (const AddedToken& added : rules.added) {
    check_as(Exit::Data, !added.takes_left && !added.takes_right, "token ", quote(added.text),
             " takes white space beside it, which no GGUF file says");
    tokens[static_cast<std::size_t>(added.number)] = added.text;
    types[static_cast<std::size_t>(added.number)] = 3;
  }
  std::vector<std::string> merges;
  for (const RuleJson& merge : model["merges"].json())
    merges.push_back(merge.is_array() ? merge[0].get<std::string>() + ' ' + merge[1].get<std::string>()
                                      : merge.get<std::string>());
  std::vector<GgufEntry> keys = {key_of("model", GgufType::Text, "gpt2"), key_of("pre", GgufType::Text, words),
                                 key_of("tokens", GgufType::Text, tokens), key_of("token_type", GgufType::I32, types),
                                 key_of("merges", GgufType::Text, merges)};
  put_side(keys, rules.frame.before, "add_bos_token", "bos_token_id");
  put_side(keys, rules.frame.after, "add_eos_token", nullptr);
  if (!rules.frame.after.empty()) {
    check_as(Exit::Data, !end || *end == rules.frame.after.front(),
             "ends a text by another token than a document, which no GGUF file says");
    end = rules.frame.after.front();
  }
  if (end) keys.push_back(key_of("eos_token_id", GgufType::U32, *end));
  return keys;
}

}  // namespace

std::vector<GgufEntry> gguf_tokenizer_keys(const std::string& directory) {
  if (is_gguf(directory)) return keys_in(directory);
  const FolderTokenizer folder = open_folder_tokenizer(directory);
  const TokenizerFile& file = folder.files.front();
  check_as(Exit::Data, file.name == "tokenizer.json", file.path,
           ": is no tokenizer.json, which alone is written as keys of a GGUF file");
  return with_context(file.path, [&] { return keys_of(read_rules(file.path, true), folder.end); });
}

}  // namespace lethe
