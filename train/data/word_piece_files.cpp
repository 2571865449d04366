#include "train/data/word_piece_files.h"

#include <algorithm>
#include <filesystem>

#include "framework/error.h"
#include "train/data/checksum.h"
#include "train/data/data_files.h"
#include "train/data/tokenizer_source.h"

namespace lethe {
namespace {

constexpr const char* kPadding = "[PAD]";

/// What a piece stands for after the piece before it.
std::string text_of_word_piece(const std::string& piece, const WordPieceForm& form) {
  if (piece.starts_with(form.pieces.prefix)) return piece.substr(form.pieces.prefix.size());
  constexpr std::string_view kJoined[] = {".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};
  const bool joins =
      form.joins_marks && std::ranges::any_of(kJoined, [&](std::string_view each) { return piece.starts_with(each); });
  return (joins ? "" : " ") + piece;
}

TokenNumbers read_lines(const std::string& file) {
  const FileBytes bytes = read_file(file);
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  TokenNumbers numbers;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto number = static_cast<std::int32_t>(numbers.size());
    check_as(Exit::Data, !line.empty(), file, ':', number + 1, ": is empty, expected a token");
    check_as(Exit::Data, numbers.emplace(line, number).second, file, ':', number + 1, ": token ", quote(line),
             " stands twice");
  }
  return numbers;
}

/// What tokenizer_config.json says of BERT's rule.
BertForm read_bert_form(const std::string& file) {
  BertForm form;
  if (!std::filesystem::exists(file)) return form;
  const RuleJson json = read_rules(file, true);
  return with_context(file, [&] {
    const Rule config(json);
    for (const auto& [key, token] :
         {std::pair{"unk_token", "[UNK]"}, {"cls_token", "[CLS]"}, {"sep_token", "[SEP]"}, {"pad_token", kPadding}})
      config[key].expect({token, nullptr});
    form.small = config["do_lower_case"].flag(true);
    form.strip = config["strip_accents"].flag(form.small);
    form.chinese = config["tokenize_chinese_chars"].flag(true);
    config["do_basic_tokenize"].expect({true, nullptr});
    config["never_split"].expect({nullptr, RuleJson::array()});
    config["tokenizer_class"].expect({"BertTokenizer", "BertTokenizerFast", nullptr});
    return form;
  });
}

}  // namespace

void set_word_pieces(WordPieceForm form, const TokenNumbers& numbers, TokenRules& rules) {
  check_as(Exit::Data, !rules.texts.empty() && rules.texts[0] == kPadding, "token 0 is ",
           quote(rules.texts.empty() ? "" : rules.texts[0]), ", expected ", kPadding,
           ": networks take symbol 0 as padding");
  rules.kind = TokenKind::WordPieces;
  rules.form = {.kind = TextForm::Kind::Bert, .bert = form.bert};
  rules.word = word_of_bert;
  for (std::string& text : rules.texts) text = text_of_word_piece(text, form);
  rules.model = word_pieces(numbers, form.pieces);
}

TokenRules read_vocab_txt(const std::string& directory) {
  const std::string file = directory + "/vocab.txt";
  const TokenNumbers numbers = read_lines(file);
  WordPieceForm form{.bert = read_bert_form(directory + "/tokenizer_config.json")};
  return with_context(file, [&] {
    const auto number = [&](const char* token) {
      const auto found = numbers.find(token);
      check_as(Exit::Data, found != numbers.end(), "lacks ", token, ", which BERT's tokens take");
      return found->second;
    };
    TokenRules rules;
    rules.texts.resize(numbers.size());
    for (const auto& [token, at] : numbers) rules.texts[static_cast<std::size_t>(at)] = token;
    form.pieces.unknown = number("[UNK]");
    rules.frame = {.before = {number("[CLS]")}, .after = {number("[SEP]")}};
    set_word_pieces(form, numbers, rules);
    for (const char* token : {kPadding, "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
      if (const auto found = numbers.find(token); found != numbers.end())
        rules.added.push_back({.text = token, .number = found->second});
    rules.checksum = checksum_of(message(form.bert.small, form.bert.strip, form.bert.chinese));
    return rules;
  });
}

}  // namespace lethe
