#include "train/data/folder_tokenizer.h"

#include <algorithm>
#include <filesystem>

#include "framework/error.h"
#include "train/data/gguf_tokenizer.h"
#include "train/data/sentencepiece_file.h"
#include "train/data/tokenizer_json.h"
#include "train/data/word_piece_files.h"

namespace lethe {
namespace {

constexpr const char* kJsonFile = "tokenizer.json";
constexpr const char* kPiecesFile = "tokenizer.model";
constexpr const char* kWordsFile = "vocab.txt";
constexpr const char* kConfigFile = "tokenizer_config.json";
constexpr const char* kMarksFile = "special_tokens_map.json";

bool has_file(const std::string& directory, const char* name) {
  return std::filesystem::exists(directory + '/' + name);
}

/// An object of a folder's file; null without it.
RuleJson config_of(const std::string& directory, const char* name) {
  return has_file(directory, name) ? read_rules(directory + '/' + name, true) : RuleJson();
}

/// Fails if `config` says otherwise of a member than the rules do.
void expect_same(const Rule& config, const char* key, bool by_rules) {
  if (config[key].flag(by_rules) != by_rules)
    config[key].refuse(by_rules ? "true, as its rules say" : "false, as its rules say");
}

/// What the file says that some classes of transformers put in place of the rules.
void check_config(const Rule& config, const TokenRules& rules) {
  if (rules.kind == TokenKind::WordPieces) {
    expect_same(config, "do_lower_case", rules.form.bert.small);
    expect_same(config, "strip_accents", rules.form.bert.strip);
    expect_same(config, "tokenize_chinese_chars", rules.form.bert.chinese);
    return;
  }
  expect_same(config, "add_prefix_space", rules.form.blank != TextForm::Blank::None);
  expect_same(config, "add_bos_token", !rules.frame.before.empty());
  expect_same(config, "add_eos_token", !rules.frame.after.empty());
}

/// What a file calls the token that ends a text: its text, or an object with that as content; "" if it does not say.
std::string end_named(const Rule& config) {
  const Rule end = config["eos_token"];
  if (end.is_null()) return "";
  return end.json().is_object() ? end["content"].text() : end.text();
}

/// That token; none if the file does not say.
std::optional<std::int32_t> end_by(const Rule& config, const Tokenizer& tokenizer) {
  const std::string end = end_named(config);
  if (end.empty()) return std::nullopt;
  const std::optional<std::int32_t> token = tokenizer.token_of(end);
  check_as(Exit::Data, token.has_value(), "eos_token is ", quote(end), ", which is no token of the vocabulary");
  return token;
}

std::optional<std::int32_t> end_of(const std::string& directory, const Tokenizer& tokenizer) {
  for (const char* name : {kConfigFile, kMarksFile}) {
    const RuleJson json = config_of(directory, name);
    if (const auto token = with_context(directory + '/' + name, [&] { return end_by(Rule(json), tokenizer); }))
      return token;
  }
  return tokenizer.token_of(tokenizer.kind() == TokenKind::SentencePieces ? "</s>" : kEndOfText);
}

/// sentencepiece's own file says nothing of the tokens beside a text: transformers puts <s> before it.
TokenRules pieces_by(SentencePieces pieces, const Rule& config) {
  for (const auto& [wanted, token, side] :
       {std::tuple{config["add_bos_token"].flag(true), pieces.begin, &Frame::before},
        {config["add_eos_token"].flag(false), pieces.end, &Frame::after}})
    if (wanted && token >= 0) (pieces.rules.frame.*side).push_back(token);
  for (const auto& [number, token] : config["added_tokens_decoder"].json().items()) {
    const std::string at = message("added_tokens_decoder/", number);
    const std::string text = Rule(token, at)["content"].text();
    const std::vector<std::string>& texts = pieces.rules.texts;
    const bool is_known = std::ranges::any_of(texts, [&](const std::string& each) { return each == text; });
    if (!is_known) Rule(token, at)["content"].refuse("the pieces of tokenizer.model");
  }
  return std::move(pieces.rules);
}

/// Fails for a token that the rules do not know under its number.
void check_added(const std::string& directory, const TokenRules& rules, const std::string& file) {
  const RuleJson added = config_of(directory, kAddedFile);
  for (const auto& [text, number] : added.items()) {
    const bool is_number = number.is_number_unsigned() && number < rules.texts.size();
    const std::string known = is_number ? rules.texts[number.get<std::size_t>()] : "";
    check_as(Exit::Data, is_number && (known == text || known == ' ' + text), directory, '/', kAddedFile,
             ": has the token ", quote(text), ", which ", file, " does not have under that number");
  }
}

TokenRules rules_in(const std::string& directory, std::string& file) {
  const RuleJson json = config_of(directory, kConfigFile);
  const Rule config(json);
  const std::string config_file = directory + '/' + kConfigFile;
  if (has_file(directory, kJsonFile)) {
    file = kJsonFile;
    TokenRules rules = read_tokenizer_json(directory + '/' + kJsonFile);
    with_context(config_file, [&] { check_config(config, rules); });
    return rules;
  }
  if (has_file(directory, kPiecesFile)) {
    file = kPiecesFile;
    return pieces_by(read_sentence_pieces(directory + '/' + kPiecesFile), config);
  }
  file = kWordsFile;
  return read_vocab_txt(directory);
}

/// Whether that is a GGUF file with a tokenizer.
bool has_gguf_tokenizer(const std::string& file) {
  return is_gguf(file) && read_gguf_header(file).find(kGgufTokenizer);
}

FolderTokenizer open_gguf_tokenizer(const std::string& file) {
  const GgufHeader header = read_gguf_header(file);
  return with_context(file, [&] {
    GgufTokenizer made = gguf_tokenizer(header);
    const Rule config(made.config);
    const bool has_pieces = !made.pieces.empty();
    FolderTokenizer folder;
    folder.tokenizer =
        tokenizer_by(has_pieces ? pieces_by(sentence_pieces_in(made.pieces), config) : read_tokenizer_json(made.json));
    folder.end = end_by(config, *folder.tokenizer);
    folder.files = {{has_pieces ? kPiecesFile : kJsonFile, file, has_pieces ? made.pieces : made.json.dump()},
                    {kConfigFile, file, made.config.dump(2)}};
    return folder;
  });
}

}  // namespace

bool has_folder_tokenizer(const std::string& directory) {
  if (has_gguf_tokenizer(directory)) return true;
  return has_pair_files(directory) || std::ranges::any_of(std::initializer_list{kJsonFile, kPiecesFile, kWordsFile},
                                                          [&](const char* name) { return has_file(directory, name); });
}

std::string why_no_tokenizer(const std::string& directory) {
  if (has_folder_tokenizer(directory)) return "";
  if (is_gguf(directory)) return message(directory, ": has no tokenizer: no key ", quote(kGgufTokenizer));
  if (!std::filesystem::is_directory(directory))
    return directory + ": no such directory, which is to have the files of a tokenizer; `tokenizer` DIR names another";
  return directory +
         ": has no tokenizer: none of tokenizer.json, tokenizer.model, vocab.txt, and vocab.json with merges.txt";
}

FolderTokenizer open_folder_tokenizer(const std::string& directory) {
  const std::string why_none = why_no_tokenizer(directory);
  check_as(Exit::Data, why_none.empty(), why_none);
  if (is_gguf(directory)) return open_gguf_tokenizer(directory);
  FolderTokenizer folder;
  const bool has_pairs = has_pair_files(directory);
  const std::string why = has_pairs ? why_not_gpt2(directory) : "";
  check_as(Exit::Data, why.empty() || has_file(directory, kJsonFile), why,
           "; another rule is read from tokenizer.json, which is missing");
  if (has_pairs && why.empty()) {
    const PairFiles files = pair_files_in(directory);
    folder.tokenizer = open_pairs(files);
    folder.files = {{.name = "vocab.json", .path = files.vocabulary}, {.name = "merges.txt", .path = files.merges}};
    folder.end = folder.tokenizer->token_of(kEndOfText);
    return folder;
  }
  std::string file;
  TokenRules rules = rules_in(directory, file);
  check_added(directory, rules, file);
  folder.tokenizer = tokenizer_by(std::move(rules));
  for (const std::string& name : {file, std::string(kConfigFile), std::string(kMarksFile)})
    if (has_file(directory, name.c_str())) folder.files.push_back({.name = name, .path = directory + '/' + name});
  folder.end = end_of(directory, *folder.tokenizer);
  return folder;
}

}  // namespace lethe
