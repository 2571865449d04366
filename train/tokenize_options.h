// What `train tokenize` is told beside files and --out.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace lethe {

struct TokenizeOptions {
  std::string tokenizer = "bytes";  // or chars, or a directory of GPT-2's files
  std::optional<std::string> end_token = {}, separator = {};
  double validation = 10;  // percent of the text
  std::int64_t shard_tokens = 100'000'000;
};

}  // namespace lethe
