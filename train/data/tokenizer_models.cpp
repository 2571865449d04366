// The models that a tokenizer.json may have, with what belongs to each: how text is changed before, cut in words, and
// made of tokens again.
#include <algorithm>

#include "framework/error.h"
#include "train/data/sentencepiece_file.h"
#include "train/data/token_lists.h"
#include "train/data/tokenizer_json.h"
#include "train/data/word_piece_files.h"

namespace lethe {
namespace {

struct KnownSplit {
  const char* expression;
  WordRule word;
};

/// Compared as text: an expression is a program, and another one by a letter cuts other words.
constexpr KnownSplit kKnownSplits[] = {
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", word_of_gpt2},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", word_of_gpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
     R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     word_of_llama3},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
     R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     word_of_qwen2}};

WordRule split_of(const Rule& step) {
  step.only({"type", "pattern", "behavior", "invert"});
  step["behavior"].expect({"Isolated"});
  step["invert"].expect({false, nullptr});
  const Rule expression = step["pattern"]["Regex"];
  for (const KnownSplit& known : kKnownSplits)
    if (expression.is(known.expression)) return known.word;
  expression.refuse("the expressions of GPT-2, Llama 3 and Qwen2");
}

/// ByteLevel, which may stand after a rule that cuts before it.
WordRule byte_level_words(const std::vector<Rule>& steps, TextForm& form) {
  const Rule& last = steps.back();
  last.only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  const bool cuts = last["use_regex"].flag(true), puts_blank = last["add_prefix_space"].flag(false);
  if (steps.size() > 1) last["add_prefix_space"].expect({false, nullptr});
  if (puts_blank) form.blank = TextForm::Blank::EachWithout;
  if (steps.size() == 1 && cuts) return word_of_gpt2;
  if (steps.size() == 1) last["use_regex"].refuse("true, or another rule before it");
  const Rule& first = steps.front();
  if (first.type() == "Split" && !cuts) return split_of(first);
  if (first.type() == "Digits" && cuts) {
    first["individual_digits"].expect({true});
    return word_of_smollm2;
  }
  if (first.type() == "Split" || first.type() == "Digits")
    last["use_regex"].refuse(first.type() == "Split" ? "false after Split" : "true after Digits");
  first["type"].refuse("Split, Digits");
}

void check_plain(const Rule& model) {
  model.only({"type", "vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
              "fuse_unk", "byte_fallback", "ignore_merges"});
  model["dropout"].expect({nullptr, 0});
  for (const char* beside : {"continuing_subword_prefix", "end_of_word_suffix"}) model[beside].expect({nullptr, ""});
}

/// "a b" or ["a", "b"].
PairMerges merges_of(const Rule& list, const TokenNumbers& numbers) {
  PairMerges merges;
  for (const Rule& merge : list.items()) {
    if (merge.json().is_array() && merge.items().size() == 2) {
      add_merge(merges, numbers, "vocab", merge.items()[0].text(), merge.items()[1].text());
      continue;
    }
    const std::string line = merge.text();
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos || line.rfind(' ') != blank) merge.refuse("two tokens with a blank between");
    add_merge(merges, numbers, "vocab", line.substr(0, blank), line.substr(blank + 1));
  }
  return merges;
}

/// Sentencepiece's blank in place of each: {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}.
void expect_replace(const Rule& step, const std::string& from, const std::string& to) {
  step["type"].expect({"Replace"});
  step["pattern"]["String"].expect({from});
  step["content"].expect({to});
}

/// As a normalizer: blanks become sentencepiece's, and one may stand before the text.
TextForm::Blank blank_of_normalizer(const Rule& normalizer) {
  const std::string blank(kPieceBlank);
  std::vector<Rule> steps = normalizer.steps("normalizers");
  const bool puts = !steps.empty() && steps.front().type() == "Prepend";
  if (puts) {
    steps.front()["prepend"].expect({blank});
    steps.erase(steps.begin());
  }
  if (steps.size() != 1) normalizer.refuse("Replace after Prepend or alone");
  expect_replace(steps.front(), " ", blank);
  return puts ? TextForm::Blank::Each : TextForm::Blank::None;
}

/// As a rule that cuts words.
TextForm::Blank blank_of_metaspace(const Rule& metaspace) {
  metaspace.only({"type", "replacement", "prepend_scheme", "add_prefix_space", "split", "str_rep"});
  metaspace["replacement"].expect({std::string(kPieceBlank)});
  const Rule scheme = metaspace["prepend_scheme"];
  scheme.expect({"always", "first", "never", nullptr});
  if (scheme.is("always") || (scheme.is_null() && metaspace["add_prefix_space"].flag(true)))
    return TextForm::Blank::EachWithout;
  return scheme.is("first") ? TextForm::Blank::FirstWithout : TextForm::Blank::None;
}

/// Gemma's, which finds no blank to cut at, since its normalizer leaves none.
bool cuts_nothing(const Rule& pre, const Rule& normalizer) {
  if (pre.type() != "Split" || normalizer.is_null()) return pre.is_null();
  pre.only({"type", "pattern", "behavior", "invert"});
  pre["pattern"].expect({RuleJson::object({{"String", " "}})});
  pre["behavior"].expect({"MergedWithPrevious"});
  pre["invert"].expect({false, nullptr});
  return true;
}

bool blanks_begin_pieces(const std::vector<std::string>& pieces) {
  return std::ranges::all_of(pieces, [](const std::string& piece) { return word_of_pieces(piece, 0) == piece.size(); });
}

/// "<0x0A>" for each byte.
TokensOfBytes byte_pieces(const TokenNumbers& numbers) {
  TokensOfBytes bytes{};
  for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
    const auto found = numbers.find(byte_piece(static_cast<int>(byte)));
    check_as(Exit::Data, found != numbers.end(), "model/vocab: lacks ", byte_piece(static_cast<int>(byte)),
             ", which byte_fallback takes");
    bytes[byte] = found->second;
  }
  return bytes;
}

std::int32_t number_of(const Rule& token, const TokenNumbers& numbers) {
  const auto found = numbers.find(token.text());
  if (found == numbers.end()) token.refuse("a token of the vocabulary");
  return found->second;
}

void expect_decoder(const Rule& decoder, std::initializer_list<RuleJson> known) {
  for (const Rule& step : decoder.steps("decoders")) step["type"].expect(known);
}

}  // namespace

RuleJson pre_tokenizer_of(WordRule word) {
  const bool by_digits = word == word_of_smollm2, by_split = !by_digits && word != word_of_gpt2;
  RuleJson steps = RuleJson::array();
  if (by_digits) steps.push_back({{"type", "Digits"}, {"individual_digits", true}});
  if (by_split)
    steps.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", std::ranges::find(kKnownSplits, word, &KnownSplit::word)->expression}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  steps.push_back(
      {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", !by_split}});
  return {{"type", "Sequence"}, {"pretokenizers", steps}};
}

void read_byte_pairs(const Rule& file, const TokenNumbers& numbers, TokenRules& rules) {
  const Rule model = file["model"], normalizer = file["normalizer"];
  check_plain(model);
  model["byte_fallback"].expect({false, nullptr});
  expect_decoder(file["decoder"], {"ByteLevel"});
  if (!normalizer.is_null()) {
    normalizer["type"].expect({"NFC"});
    rules.form.kind = TextForm::Kind::Composed;
  }
  const std::vector<Rule> steps = file["pre_tokenizer"].steps("pretokenizers");
  if (steps.empty() || steps.size() > 2 || steps.back().type() != "ByteLevel")
    file["pre_tokenizer"].refuse("ByteLevel alone or after one other");
  rules.word = byte_level_words(steps, rules.form);
  rules.kind = TokenKind::Pairs;
  TokenNumbers whole;
  std::ranges::transform(rules.texts, rules.texts.begin(), bytes_spelled);
  if (model["ignore_merges"].flag(false))
    for (const auto& [token, number] : numbers) whole.emplace(bytes_spelled(token), number);
  PairMerges merges = merges_of(model["merges"], numbers);
  rules.checksum = merges.checksum();
  rules.model = byte_pairs(std::move(merges), tokens_of_bytes(numbers), std::move(whole));
}

void read_character_pairs(const Rule& file, const TokenNumbers& numbers, TokenRules& rules) {
  const Rule model = file["model"], normalizer = file["normalizer"], pre = file["pre_tokenizer"];
  check_plain(model);
  model["ignore_merges"].expect({false, nullptr});
  expect_decoder(file["decoder"], {"Replace", "ByteFallback", "Fuse", "Strip", "Metaspace"});
  const bool is_whole = cuts_nothing(pre, normalizer);
  if (!is_whole) pre["type"].expect({"ByteLevel", "Metaspace"});
  if (!is_whole && !normalizer.is_null()) normalizer.refuse("null beside Metaspace");
  rules.kind = TokenKind::SentencePieces;
  rules.form.kind = TextForm::Kind::PieceBlanks;
  rules.form.blank = is_whole ? blank_of_normalizer(normalizer) : blank_of_metaspace(pre);
  rules.word = blanks_begin_pieces(rules.texts) ? word_of_pieces : whole_text;
  if (!is_whole && pre["split"].flag(true)) rules.word = word_of_metaspace;
  UnknownCharacters unknown{.is_one = model["fuse_unk"].flag(false)};
  if (model["byte_fallback"].flag(false)) unknown.bytes = byte_pieces(numbers);
  if (!model["unk_token"].is_null()) unknown.token = number_of(model["unk_token"], numbers);
  if (!unknown.bytes && !unknown.token) model["unk_token"].refuse("a token for unknown characters, or byte_fallback");
  std::ranges::transform(rules.texts, rules.texts.begin(), text_of_piece);
  PairMerges merges = merges_of(model["merges"], numbers);
  rules.checksum = merges.checksum();
  rules.model = character_pairs(std::move(merges), numbers, unknown);
}

void read_word_pieces(const Rule& file, const TokenNumbers& numbers, TokenRules& rules) {
  const Rule model = file["model"], normalizer = file["normalizer"];
  model.only({"type", "vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"});
  normalizer["type"].expect({"BertNormalizer"});
  normalizer.only({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  file["pre_tokenizer"]["type"].expect({"BertPreTokenizer"});
  expect_decoder(file["decoder"], {"WordPiece"});
  const bool small = normalizer["lowercase"].flag(true);
  const WordPieceForm form{
      .bert = {.clean = normalizer["clean_text"].flag(true),
               .chinese = normalizer["handle_chinese_chars"].flag(true),
               .strip = normalizer["strip_accents"].flag(small),
               .small = small},
      .pieces = {.unknown = number_of(model["unk_token"], numbers),
                 .prefix =
                     model["continuing_subword_prefix"].is_null() ? "##" : model["continuing_subword_prefix"].text(),
                 .most_characters = model["max_input_chars_per_word"].number(100)},
      .joins_marks = file["decoder"]["cleanup"].flag(true)};
  set_word_pieces(form, numbers, rules);
}

}  // namespace lethe
