#include "train/data/gguf_tokenizer.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "framework/error.h"
#include "train/data/tokenizer_json.h"

namespace lethe {
namespace {

// Types of tokens, which are sentencepiece's types of pieces.
enum GgufToken : std::int64_t { kNormalToken = 1, kControlToken = 3, kDefinedToken = 4, kLastType = 6 };

/// How `tokenizer.ggml.pre` cuts words, by llama.cpp's src/llama-vocab.cpp.
struct WordCut {
  const char* pre;
  WordRule word;
  bool composes = false;           // characters first, as the family's own tokenizer does
  bool takes_whole_words = false;  // that are tokens, without merges
  bool begins_texts = false;       // with <s>, where nothing else is said
};
constexpr WordCut kWordCuts[] = {
    {"gpt-2", word_of_gpt2},
    {"smollm", word_of_smollm2},
    {.pre = "llama-bpe", .word = word_of_llama3, .takes_whole_words = true, .begins_texts = true},
    {.pre = "qwen2", .word = word_of_qwen2, .composes = true}};

/// The lists of a tokenizer, of which each token has one item.
struct TokenLists {
  std::vector<std::string> texts = {};
  std::vector<std::int64_t> types = {};

  std::string text(std::int32_t token) const { return texts[static_cast<std::size_t>(token)]; }
};

const Json& list_of(const GgufHeader& header, const char* key, GgufType items) {
  const Json* const list = header.list(key, items);
  check_as(Exit::Data, list != nullptr, "lacks ", quote(key), ", which its tokenizer needs");
  return *list;
}

void check_as_many(const char* key, std::size_t items, std::size_t tokens) {
  check_as(Exit::Data, items == tokens, quote(key), " has ", items, " items, ", quote("tokenizer.ggml.tokens"), ' ',
           tokens);
}

TokenLists lists_of(const GgufHeader& header) {
  TokenLists lists;
  for (const Json& text : list_of(header, "tokenizer.ggml.tokens", GgufType::Text))
    lists.texts.push_back(text.get<std::string>());
  constexpr const char* kTypes = "tokenizer.ggml.token_type";
  for (const Json& type : list_of(header, kTypes, GgufType::I32)) {
    lists.types.push_back(type.get<std::int64_t>());
    check_as(Exit::Data, lists.types.back() >= kNormalToken && lists.types.back() <= kLastType, quote(kTypes), " has ",
             lists.types.back(), ", expected 1 to 6");
  }
  check_as_many(kTypes, lists.types.size(), lists.texts.size());
  check_as(Exit::Data, !lists.texts.empty() && lists.texts.size() < INT32_MAX, quote("tokenizer.ggml.tokens"),
           " has no tokens");
  std::set<std::string_view> once;
  for (const std::string& text : lists.texts)
    check_as(Exit::Data, once.insert(text).second, quote("tokenizer.ggml.tokens"), " has ", quote(text), " twice");
  return lists;
}

/// The token whose number a key says.
std::optional<std::int32_t> token_at(const GgufHeader& header, const char* key, std::size_t tokens) {
  const GgufEntry* const entry = header.find(key);
  if (!entry) return std::nullopt;
  check_as(Exit::Data, entry->value.is_number_unsigned() && entry->value < tokens, quote(key), " is ",
           shortened(entry->value.dump()), ", which is none of ", tokens, " tokens");
  return entry->value.get<std::int32_t>();
}

/// A token beside a text; none unless a key says so, or where it is missing `absent` does.
std::optional<std::int32_t> beside(const GgufHeader& header, const char* flag, bool absent, const char* token,
                                   std::size_t tokens) {
  if (!header.flag(flag, absent)) return std::nullopt;
  const std::optional<std::int32_t> found = token_at(header, token, tokens);
  check_as(Exit::Data, found.has_value(), "lacks ", quote(token), ", which stands beside each text");
  return found;
}

constexpr const char* kAddBeginKey = "tokenizer.ggml.add_bos_token";
constexpr const char* kAddEndKey = "tokenizer.ggml.add_eos_token";
constexpr const char* kBeginKey = "tokenizer.ggml.bos_token_id";
constexpr const char* kEndKey = "tokenizer.ggml.eos_token_id";

RuleJson config_of(const GgufHeader& header, const TokenLists& lists, bool begins) {
  RuleJson config = {{"add_bos_token", begins}, {"add_eos_token", header.flag(kAddEndKey, false)}};
  if (const auto end = token_at(header, kEndKey, lists.texts.size())) config["eos_token"] = lists.text(*end);
  return config;
}

const WordCut& cut_of(const GgufHeader& header) {
  constexpr const char* kPre = "tokenizer.ggml.pre";
  const std::string* const pre = header.text(kPre);
  std::vector<std::string> known;
  for (const WordCut& cut : kWordCuts) {
    if (pre && *pre == cut.pre) return cut;
    known.emplace_back(cut.pre);
  }
  fail_as(Exit::Data, quote(kPre), pre ? " is " + quote(*pre) : " is missing",
          ", which is not read (known: ", joined(known), ")");
}

/// {"SpecialToken": ...} before or after {"Sequence": "A"}.
RuleJson template_of(const TokenLists& lists, std::optional<std::int32_t> begin, std::optional<std::int32_t> end) {
  RuleJson single = RuleJson::array(), special = RuleJson::object();
  const auto add = [&](std::int32_t token) {
    const std::string text = lists.text(token);
    single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
    special[text] = {{"id", text}, {"ids", RuleJson::array({token})}, {"tokens", RuleJson::array({text})}};
  };
  if (begin) add(*begin);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  if (end) add(*end);
  return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", single}, {"special_tokens", special}};
}

GgufTokenizer byte_pairs_of(const GgufHeader& header) {
  const TokenLists lists = lists_of(header);
  const WordCut& cut = cut_of(header);
  RuleJson vocabulary = RuleJson::object(), added = RuleJson::array(), merges = RuleJson::array();
  for (std::size_t i = 0; i < lists.texts.size(); ++i) {
    vocabulary[lists.texts[i]] = i;
    if (lists.types[i] == kControlToken || lists.types[i] == kDefinedToken)
      added.push_back({{"id", i},
                       {"content", lists.texts[i]},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", lists.types[i] == kControlToken}});
  }
  for (const Json& merge : list_of(header, "tokenizer.ggml.merges", GgufType::Text))
    merges.push_back(merge.get<std::string>());
  const std::size_t tokens = lists.texts.size();
  const auto begin = beside(header, kAddBeginKey, cut.begins_texts, kBeginKey, tokens);
  const auto end = beside(header, kAddEndKey, false, kEndKey, tokens);
  GgufTokenizer made;
  made.json = {{"version", "1.0"},
               {"added_tokens", added},
               {"normalizer", cut.composes ? RuleJson{{"type", "NFC"}} : RuleJson()},
               {"pre_tokenizer", pre_tokenizer_of(cut.word)},
               {"post_processor", begin || end ? template_of(lists, begin, end) : RuleJson()},
               {"decoder", {{"type", "ByteLevel"}}},
               {"model",
                {{"type", "BPE"},
                 {"ignore_merges", cut.takes_whole_words},
                 {"vocab", std::move(vocabulary)},
                 {"merges", std::move(merges)}}}};
  made.config = config_of(header, lists, begin.has_value());
  return made;
}

/// Writes fields of a message in protobuf's wire format.
class WireWriter {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3U);
    varint(value);
  }
  void bytes(std::uint32_t field, std::string_view value) {
    varint(field << 3U | 2U);
    varint(value.size());
    text_ += value;
  }
  void real(std::uint32_t field, float value) {
    varint(field << 3U | 5U);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (unsigned shift = 0; shift < 32; shift += 8) text_ += static_cast<char>(bits >> shift & 0xffU);
  }
  const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) text_ += static_cast<char>((value & 0x7fU) | 0x80U);
    text_ += static_cast<char>(value);
  }

  std::string text_ = {};
};

/// The numbers of fields are those that sentencepiece_file.cpp reads.
GgufTokenizer pieces_of(const GgufHeader& header) {
  const TokenLists lists = lists_of(header);
  constexpr const char* kScores = "tokenizer.ggml.scores";
  const Json& scores = list_of(header, kScores, GgufType::F32);
  check_as_many(kScores, scores.size(), lists.texts.size());
  WireWriter model, trainer, normalizer;
  for (std::size_t i = 0; i < lists.texts.size(); ++i) {
    WireWriter piece;
    piece.bytes(1, lists.texts[i]);
    piece.real(2, scores[i].get<float>());
    piece.number(3, static_cast<std::uint64_t>(lists.types[i]));
    model.bytes(1, piece.text());
  }
  const bool has_bytes = std::ranges::count(lists.types, std::int64_t{kLastType}) > 0;
  const auto token = [&](const char* key, std::int32_t absent) {
    return static_cast<std::uint64_t>(token_at(header, key, lists.texts.size()).value_or(absent));
  };
  trainer.number(3, 2);  // BPE
  trainer.number(35, has_bytes ? 1 : 0);
  trainer.number(40, token("tokenizer.ggml.unknown_token_id", 0));
  trainer.number(41, token(kBeginKey, 1));
  trainer.number(42, token(kEndKey, 2));
  model.bytes(2, trainer.text());
  normalizer.number(3, header.flag("tokenizer.ggml.add_space_prefix", true) ? 1 : 0);
  normalizer.number(4, header.flag("tokenizer.ggml.remove_extra_whitespaces", false) ? 1 : 0);
  normalizer.number(5, header.flag("tokenizer.ggml.escape_whitespaces", true) ? 1 : 0);
  model.bytes(3, normalizer.text());
  return {.pieces = model.text(), .config = config_of(header, lists, header.flag(kAddBeginKey, true))};
}

}  // namespace

std::string gguf_words(const TokenRules& rules, bool takes_whole_words) {
  const bool composes = rules.form.kind == TextForm::Kind::Composed;
  for (const WordCut& cut : kWordCuts)
    if (cut.word == rules.word && cut.composes == composes && cut.takes_whole_words == takes_whole_words &&
        rules.form.blank == TextForm::Blank::None)
      return cut.pre;
  return "";
}

GgufTokenizer gguf_tokenizer(const GgufHeader& header) {
  const std::string* const model = header.text(kGgufTokenizer);
  if (model && *model == "gpt2") return byte_pairs_of(header);
  if (model && *model == "llama") return pieces_of(header);
  fail_as(Exit::Data, quote(kGgufTokenizer), model ? " is " + quote(*model) : " is missing",
          ", which is not read (known: gpt2, llama)");
}

}  // namespace lethe
