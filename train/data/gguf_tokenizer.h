// The tokenizer that a GGUF file has among its keys, as the files that say the same in a folder.
#pragma once
#include <string>

#include "train/data/gguf_file.h"
#include "train/data/rule_tokenizer.h"
#include "train/data/tokenizer_source.h"

namespace lethe {

inline constexpr const char* kGgufTokenizer = "tokenizer.ggml.model";

struct GgufTokenizer {
  RuleJson json = {};       // tokenizer.json, of "gpt2": byte pairs of bytes
  std::string pieces = {};  // or tokenizer.model, of "llama": sentencepiece's pairs of characters
  RuleJson config = {};     // tokenizer_config.json: what ends a text, and <s> and </s> beside one
};

/// Bytes are cut in words by `tokenizer.ggml.pre`; tokens that are controls or that users defined are found in texts
/// before. Where a key is missing that says what stands beside a text, the same holds as in llama.cpp. Fails
/// (Exit::Data), naming the key, for what is not read, and for lists that do not fit each other.
GgufTokenizer gguf_tokenizer(const GgufHeader& header);

/// What `tokenizer.ggml.pre` says of byte pairs by these rules; "" if no word of it does.
std::string gguf_words(const TokenRules& rules, bool takes_whole_words);

}  // namespace lethe
