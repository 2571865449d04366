// GPT-2's byte pair encoding, by files as GPT-2's.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "framework/text_input.h"
#include "train/data/rule_tokenizer.h"
#include "train/data/token_lists.h"

namespace lethe {
namespace {

std::string text_of_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  check_as(Exit::Data, in.good() && !std::filesystem::is_directory(file), file, ": cannot be opened");
  return with_context(file, [&] { return rest_of(in, Exit::Data); });
}

/// Takes {"token": number} and nothing else.
class NumbersReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  NumbersReader(const std::string& file, TokenNumbers& numbers) : file_(file), numbers_(numbers) {}
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
  TokenNumbers& numbers_;
  std::string token_;
  int depth_ = 0;
};

TokenNumbers read_numbers(const std::string& file) {
  TokenNumbers numbers;
  NumbersReader reader(file, numbers);
  nlohmann::json::sax_parse(text_of_file(file), &reader);
  check_as(Exit::Data, !numbers.empty(), file, ": has no tokens");
  return numbers;
}

PairMerges read_merges(const PairFiles& files, const TokenNumbers& numbers) {
  PairMerges merges;
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
    with_context(where,
                 [&] { add_merge(merges, numbers, files.vocabulary, line.substr(0, blank), line.substr(blank + 1)); });
  }
  return merges;
}

}  // namespace

bool has_pair_files(const std::string& directory) {
  const auto is_there = [&](const char* name) { return std::filesystem::exists(directory + '/' + name); };
  return (is_there("vocab.json") || is_there("encoder.json")) && (is_there("merges.txt") || is_there("vocab.bpe"));
}

PairFiles pair_files_in(const std::string& directory) {
  const auto either = [&](const char* name, const char* other) {
    for (const char* each : {name, other})
      if (std::string file = directory + "/" + each; std::filesystem::exists(file)) return file;
    fail_as(Exit::Data, directory, ": has neither ", name, " nor ", other, ", which GPT-2's tokens take");
  };
  return {.vocabulary = either("vocab.json", "encoder.json"), .merges = either("merges.txt", "vocab.bpe")};
}

std::unique_ptr<Tokenizer> open_pairs(const PairFiles& files) {
  const TokenNumbers numbers = read_numbers(files.vocabulary);
  TokenRules rules{.word = word_of_gpt2};
  const TokensOfBytes bytes = with_context(files.vocabulary, [&] {
    rules.texts = tokens_by_number(numbers);
    return tokens_of_bytes(numbers);
  });
  std::ranges::transform(rules.texts, rules.texts.begin(), bytes_spelled);
  PairMerges merges = read_merges(files, numbers);
  rules.checksum = merges.checksum();
  rules.model = byte_pairs(std::move(merges), bytes);
  return tokenizer_by(std::move(rules));
}

}  // namespace lethe
