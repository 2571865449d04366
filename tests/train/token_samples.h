// Small vocabularies in the format of GPT-2's files.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "train/data/unicode.h"

namespace lethe::testing {

using SpelledMerges = std::vector<std::pair<std::string, std::string>>;

/// vocab.json of all bytes, as tokens 0 to 255 in the order of their values, of what the merges make, from 256 on, and
/// of "<|endoftext|>" after them.
inline std::string vocabulary_json(const SpelledMerges& merges) {
  std::string json = "{";
  int number = 0;
  char32_t hidden = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool seen = (byte > ' ' && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    const std::string spelled = utf8_of(seen ? byte : hidden);
    hidden += seen ? 0 : 1;
    json += std::string(number ? ", " : "") + '"' + (spelled == "\"" || spelled == "\\" ? "\\" : "") + spelled +
            "\": " + std::to_string(number);
    ++number;
  }
  for (const auto& [left, right] : merges) json += ", \"" + left + right + "\": " + std::to_string(number++);
  return json + ", \"<|endoftext|>\": " + std::to_string(number) + "}";
}

inline std::string merges_text(const SpelledMerges& merges) {
  std::string text = "#version: 0.2\n";
  for (const auto& [left, right] : merges) text += left + ' ' + right + '\n';
  return text;
}

/// "Ġ" is how the files spell a blank.
inline const SpelledMerges kFewMerges = {{"l", "o"}, {"lo", "w"}, {"e", "r"}, {"Ġ", "low"},
                                         {"n", "e"}, {"ne", "w"}, {"a", "a"}, {"Ã", "©"}};

/// A tokenizer.json by which each small letter and digit is a token, and no two are merged.
inline std::string tokenizer_of_characters() {
  std::string numbers = R"("?": 0, "\u2581": 1, "\n": 2)";
  int number = 3;
  for (const char character : std::string("abcdefghijklmnopqrstuvwxyz0123456789"))
    numbers += std::string(", \"") + character + "\": " + std::to_string(number++);
  return R"({"normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
             "model": {"type": "BPE", "unk_token": "?", "merges": [], "vocab": {)" +
         numbers + "}}}";
}

}  // namespace lethe::testing
