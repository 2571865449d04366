// tokenizer.json, as the package tokenizers writes it: byte pairs of bytes (GPT-2, Llama 3, Qwen2, SmolLM2) or of
// characters (Llama 2, Mistral), and BERT's word pieces.
#pragma once
#include <string>

#include "train/data/rule_tokenizer.h"
#include "train/data/tokenizer_source.h"

namespace lethe {

/// Fails with Exit::Data, place and value where it says what is not known.
TokenRules read_tokenizer_json(const std::string& file);

/// The same of what stands for one.
TokenRules read_tokenizer_json(const RuleJson& json);
/// What such a file says of byte pairs that are cut by a rule for words: GPT-2's, SmolLM2's, Llama 3's or Qwen2's.
RuleJson pre_tokenizer_of(WordRule word);

/// The parts of it; each takes the whole file, with the rules that are known so far.
void read_byte_pairs(const Rule& file, const TokenNumbers& numbers, TokenRules& rules);
void read_character_pairs(const Rule& file, const TokenNumbers& numbers, TokenRules& rules);
void read_word_pieces(const Rule& file, const TokenNumbers& numbers, TokenRules& rules);
/// What stands before and after a text.
Frame read_frame(const Rule& processor);

}  // namespace lethe
