// What GGUF files say of small models and tokenizers.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/train/token_samples.h"
#include "train/data/gguf_file.h"

namespace lethe::testing {

using GgufEntries = std::vector<GgufEntry>;

inline GgufEntry gguf_count(const std::string& key, std::int64_t value) {
  return {.key = key, .type = GgufType::U32, .value = value};
}
inline GgufEntry gguf_text(const std::string& key, const std::string& value) {
  return {.key = key, .type = GgufType::Text, .value = value};
}

/// A llama of two layers with as many tokens as byte_pair_keys() has.
inline GgufEntries llama_keys() {
  return {gguf_text("general.architecture", "llama"),
          gguf_count("llama.vocab_size", 265),
          gguf_count("llama.context_length", 16),
          gguf_count("llama.embedding_length", 32),
          gguf_count("llama.block_count", 2),
          gguf_count("llama.feed_forward_length", 64),
          gguf_count("llama.attention.head_count", 4),
          gguf_count("llama.attention.head_count_kv", 2),
          {.key = "llama.attention.layer_norm_rms_epsilon", .type = GgufType::F32, .value = 1e-5},
          {.key = "llama.rope.freq_base", .type = GgufType::F32, .value = 10000.0}};
}

/// GPT-2's bytes, kFewMerges, and <|endoftext|>, which ends a text.
inline GgufEntries byte_pair_keys() {
  const nlohmann::json numbers = nlohmann::json::parse(vocabulary_json(kFewMerges));
  std::vector<std::string> tokens(numbers.size());
  for (const auto& [token, number] : numbers.items()) tokens[number.get<std::size_t>()] = token;
  std::vector<std::int32_t> types(tokens.size(), 1);
  types.back() = 3;
  std::vector<std::string> merges;
  for (const auto& [left, right] : kFewMerges) merges.push_back(left + ' ' + right);
  const auto last = std::ssize(tokens) - 1;
  return {gguf_text("tokenizer.ggml.model", "gpt2"),
          gguf_text("tokenizer.ggml.pre", "gpt-2"),
          {.key = "tokenizer.ggml.tokens", .type = GgufType::Text, .value = tokens},
          {.key = "tokenizer.ggml.token_type", .type = GgufType::I32, .value = types},
          {.key = "tokenizer.ggml.merges", .type = GgufType::Text, .value = merges},
          gguf_count("tokenizer.ggml.bos_token_id", last),
          gguf_count("tokenizer.ggml.eos_token_id", last),
          {.key = "tokenizer.ggml.add_bos_token", .type = GgufType::Bool, .value = false}};
}

/// Sentencepiece's pieces of a few words.
inline GgufEntries piece_keys() {
  const std::vector<std::string> pieces = {"<unk>", "<s>", "</s>", "\u2581",   "l",
                                           "o",     "w",   "lo",   "\u2581lo", "\u2581low"};
  return {gguf_text("tokenizer.ggml.model", "llama"),
          {.key = "tokenizer.ggml.tokens", .type = GgufType::Text, .value = pieces},
          {.key = "tokenizer.ggml.token_type", .type = GgufType::I32, .value = {2, 3, 3, 1, 1, 1, 1, 1, 1, 1}},
          {.key = "tokenizer.ggml.scores",
           .type = GgufType::F32,
           .value = {0.0, 0.0, 0.0, -4.0, -5.0, -6.0, -7.0, -1.0, -2.0, -3.0}},
          gguf_count("tokenizer.ggml.bos_token_id", 1),
          gguf_count("tokenizer.ggml.eos_token_id", 2)};
}

}  // namespace lethe::testing
