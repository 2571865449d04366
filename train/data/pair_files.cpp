// GPT-2's byte pair encoding, by files as GPT-2's.
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "framework/error.h"
#include "framework/text_input.h"
#include "train/data/pair_merges.h"
#include "train/data/tokenizer.h"
#include "train/data/unicode.h"

namespace lethe {
namespace {

/// Numbers by tokens, as both files spell these.
using Numbers = std::unordered_map<std::string, std::int32_t>;

/// Looks words up by a part of the text.
struct WordHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
};

class PairsTokenizer final : public Tokenizer {
 public:
  PairsTokenizer(std::vector<std::string> texts, PairMerges merges)
      : Tokenizer(TokenKind::Pairs, std::move(texts), merges.checksum()), merges_(std::move(merges)) {}

  std::size_t encode(std::string_view text, std::size_t most, std::vector<std::int32_t>& tokens) const override {
    std::size_t at = 0;
    for (const std::size_t begin = tokens.size(); at < text.size() && tokens.size() - begin < most;) {
      const std::string_view word = text.substr(at, word_length(text, at));
      encode_word(word, tokens);
      at += word.size();
    }
    return at;
  }

 private:
  void encode_word(std::string_view word, std::vector<std::int32_t>& tokens) const {
    constexpr std::size_t kLongest = 64, kMost = std::size_t{1} << 18;  // of what is remembered: 50 MB at most
    if (const auto known = words_.find(word); known != words_.end()) {
      tokens.insert(tokens.end(), known->second.begin(), known->second.end());
      return;
    }
    const auto begin = static_cast<std::ptrdiff_t>(tokens.size());
    merges_.encode(word, tokens);
    if (word.size() <= kLongest && words_.size() < kMost)
      words_.emplace(word, std::vector<std::int32_t>(tokens.begin() + begin, tokens.end()));
  }

  mutable PairMerges merges_;
  mutable std::unordered_map<std::string, std::vector<std::int32_t>, WordHash, std::equal_to<>> words_;
};

/// The files spell a byte as a character that can be seen: itself where it can, else one from U+0100 on.
std::array<char32_t, 256> spelled_bytes() {
  std::array<char32_t, 256> spelled{};
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool seen = (byte > ' ' && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    spelled[byte] = seen ? byte : next++;
  }
  return spelled;
}

/// The bytes that a token stands for; one that is not spelled so, such as a mark with a blank, for itself.
std::string bytes_spelled(const std::string& token) {
  static const auto bytes = [] {
    std::unordered_map<char32_t, char> map;
    for (int byte = 0; byte < 256; ++byte)
      map[spelled_bytes()[static_cast<std::size_t>(byte)]] = static_cast<char>(byte);
    return map;
  }();
  std::string text;
  for (std::size_t at = 0; at < token.size();) {
    const Character character = character_at(token, at);
    const auto byte = bytes.find(character.code);
    if (!character.valid || byte == bytes.end()) return token;
    text += byte->second;
    at += character.bytes;
  }
  return text;
}

std::string text_of_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  check_as(Exit::Data, in.good() && !std::filesystem::is_directory(file), file, ": cannot be opened");
  return with_context(file, [&] { return rest_of(in, Exit::Data); });
}

/// Takes {"token": number} and nothing else.
class NumbersReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  NumbersReader(const std::string& file, Numbers& numbers) : file_(file), numbers_(numbers) {}
  bool start_object(std::size_t) override { return depth_++ == 0 || complain(); }
  bool end_object() override { return true; }
  bool key(std::string& token) override {
    token_ = token;
    return true;
  }
  bool number_unsigned(std::uint64_t number) override {
    if (depth_ == 0 || number > INT32_MAX) return complain();
    check_as(Exit::Data, numbers_.emplace(token_, static_cast<std::int32_t>(number)).second, file_, ": token ",
             quote(token_), " stands twice");
    return true;
  }
  bool null() override { return complain(); }
  bool boolean(bool) override { return complain(); }
  bool number_integer(std::int64_t) override { return complain(); }
  bool number_float(double, const std::string&) override { return complain(); }
  bool string(std::string&) override { return complain(); }
  bool binary(nlohmann::json::binary_t&) override { return complain(); }
  bool start_array(std::size_t) override { return complain(); }
  bool end_array() override { return complain(); }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception&) override {
    fail_as(Exit::Data, file_, ": is no JSON at byte ", byte);
  }

 private:
  [[noreturn]] bool complain() const {
    fail_as(Exit::Data, file_, ": ", token_.empty() ? "expected" : message("after ", quote(token_), " expected"),
            " {\"token\": number}, as in GPT-2's vocabulary");
  }

  const std::string& file_;
  Numbers& numbers_;
  std::string token_;
  int depth_ = 0;
};

Numbers read_numbers(const std::string& file) {
  Numbers numbers;
  NumbersReader reader(file, numbers);
  nlohmann::json::sax_parse(text_of_file(file), &reader);
  check_as(Exit::Data, !numbers.empty(), file, ": has no tokens");
  return numbers;
}

/// The text that each token stands for, by number.
std::vector<std::string> texts_of(const std::string& file, const Numbers& numbers) {
  std::vector<std::string> texts(numbers.size());
  std::vector<bool> taken(numbers.size());
  for (const auto& [token, number] : numbers) {
    const auto at = static_cast<std::size_t>(number);
    check_as(Exit::Data, at < texts.size(), file, ": token ", quote(token), " has the number ", number,
             ", but there are ", texts.size(), " tokens, and their numbers begin at 0");
    check_as(Exit::Data, !taken[at], file, ": two tokens have the number ", number);
    taken[at] = true;
    texts[at] = bytes_spelled(token);
  }
  return texts;
}

std::array<std::int32_t, 256> tokens_of_bytes(const std::string& file, const Numbers& numbers) {
  std::array<std::int32_t, 256> tokens{};
  for (std::size_t byte = 0; byte < tokens.size(); ++byte) {
    const std::string spelled = utf8_of(spelled_bytes()[byte]);
    const auto found = numbers.find(spelled);
    check_as(Exit::Data, found != numbers.end(), file, ": lacks ", quote(spelled), ", the token of byte ", byte);
    tokens[byte] = found->second;
  }
  return tokens;
}

PairMerges read_merges(const PairFiles& files, const Numbers& numbers) {
  PairMerges merges(tokens_of_bytes(files.vocabulary, numbers));
  const std::string text = text_of_file(files.merges);
  std::int64_t number = 0;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string_view line(text.data() + begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string where = message(files.merges, ':', ++number);
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    const std::size_t blank = line.find(' ');
    check_as(Exit::Data, blank != line.npos && blank > 0 && blank + 1 < line.size() && line.rfind(' ') == blank, where,
             ": expected two tokens with a blank between, got ", quote(line));
    const auto token = [&](const std::string& spelled) {
      const auto found = numbers.find(spelled);
      check_as(Exit::Data, found != numbers.end(), where, ": the merge ", quote(line), " needs the token ",
               quote(spelled), ", which ", files.vocabulary, " lacks");
      return found->second;
    };
    const std::string left(line.substr(0, blank)), right(line.substr(blank + 1));
    const std::int32_t first = token(left), second = token(right);
    const bool is_new = merges.add(first, second, token(left + right));
    check_as(Exit::Data, is_new, where, ": the merge ", quote(line), " stands there twice");
  }
  return merges;
}

}  // namespace

PairFiles pair_files_in(const std::string& directory) {
  const auto either = [&](const char* name, const char* other) {
    for (const char* each : {name, other})
      if (std::string file = directory + "/" + each; std::filesystem::exists(file)) return file;
    fail_as(Exit::Data, directory, ": has neither ", name, " nor ", other, ", which GPT-2's tokens take");
  };
  PairFiles files = {.vocabulary = either("vocab.json", "encoder.json"), .merges = either("merges.txt", "vocab.bpe")};
  check_rules_of_gpt2(directory);
  return files;
}

std::unique_ptr<Tokenizer> open_pairs(const PairFiles& files) {
  const Numbers numbers = read_numbers(files.vocabulary);
  std::vector<std::string> texts = texts_of(files.vocabulary, numbers);
  return std::make_unique<PairsTokenizer>(std::move(texts), read_merges(files, numbers));
}

}  // namespace lethe
