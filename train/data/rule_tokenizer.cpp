#include "train/data/rule_tokenizer.h"

#include "train/data/unicode.h"

namespace lethe {
namespace {

/// Text is brought into its form a part at a time, of so many bytes and those up to the next border.
constexpr std::size_t kPartBytes = 1 << 16;

bool is_space_at(std::string_view text, std::size_t at) { return character_at(text, at).kind == CharClass::Space; }

/// Whether every rule begins a word at `at` and no form joins what stands before it to what follows: at a blank after a
/// character that can be seen, or after a line end between two characters, unless line ends belong to words.
bool is_border(std::string_view text, std::size_t at, bool has_line_words) {
  const char before = text[at - 1];
  if (text[at] == ' ') return before > ' ' && before < 0x7f;
  if (before != '\n' || has_line_words || at < 2 || is_space_at(text, at)) return false;
  std::size_t last = at - 2;  // where the character before the line end begins
  while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xc0) == 0x80) --last;
  return !is_space_at(text, last);
}

class RuleTokenizer final : public Tokenizer {
 public:
  explicit RuleTokenizer(TokenRules rules)
      : Tokenizer(rules.kind, std::move(rules.texts), rules.checksum, std::move(rules.frame)),
        added_(std::move(rules.added)),
        form_(rules.form),
        word_(rules.word),
        model_(std::move(rules.model)) {}

  std::size_t encode(std::string_view text, std::size_t at, std::size_t most,
                     std::vector<std::int32_t>& tokens) const override {
    const std::size_t before = tokens.size();
    for (bool begins = at == 0; at < text.size() && (begins || tokens.size() - before < most);) {
      std::size_t end = part_end(text, at);
      const auto found = added_.first_in(text, at, end);
      if (found) end = found->begin;
      std::string held;
      encode_words(form_.of(text.substr(at, end - at), begins, at == 0, held), tokens);
      begins = found.has_value();
      at = found ? found->end : end;
      if (found) tokens.push_back(found->number);
    }
    return at;
  }

 private:
  std::size_t part_end(std::string_view text, std::size_t at) const {
    const bool has_line_words = form_.kind == TextForm::Kind::PieceBlanks;
    for (std::size_t end = at + kPartBytes; end < text.size(); ++end)
      if (is_border(text, end, has_line_words)) return end;
    return text.size();
  }

  void encode_words(std::string_view text, std::vector<std::int32_t>& tokens) const {
    for (std::size_t at = 0; at < text.size();) {
      const std::string_view word = text.substr(at, word_(text, at));
      encode_word(word, tokens);
      at += word.size();
    }
  }

  void encode_word(std::string_view word, std::vector<std::int32_t>& tokens) const {
    constexpr std::size_t kLongest = 64, kMost = std::size_t{1} << 18;  // of what is remembered: 50 MB at most
    if (const auto known = words_.find(word); known != words_.end()) {
      tokens.insert(tokens.end(), known->second.begin(), known->second.end());
      return;
    }
    const auto begin = static_cast<std::ptrdiff_t>(tokens.size());
    model_->encode(word, tokens);
    if (word.size() <= kLongest && words_.size() < kMost)
      words_.emplace(word, std::vector<std::int32_t>(tokens.begin() + begin, tokens.end()));
  }

  AddedTokens added_;
  TextForm form_;
  WordRule word_;
  std::unique_ptr<WordModel> model_;
  mutable std::unordered_map<std::string, std::vector<std::int32_t>, WordHash, std::equal_to<>> words_;
};

}  // namespace

std::unique_ptr<Tokenizer> tokenizer_by(TokenRules rules) { return std::make_unique<RuleTokenizer>(std::move(rules)); }

}  // namespace lethe
