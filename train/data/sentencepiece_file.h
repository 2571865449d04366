// tokenizer.model, as sentencepiece writes it: Llama 2's, TinyLlama's and Mistral's tokens.
#pragma once
#include <string>
#include <string_view>

#include "train/data/rule_tokenizer.h"

namespace lethe {

/// Byte pairs of characters, whose text is not changed but for blanks. Fails with Exit::Data for a damaged file and
/// for what is not read: other models, a normalizer, pieces that users defined. A frame it has none.
/// <s> and </s> are the tokens `begin` and `end`, -1 where the file has none.
struct SentencePieces {
  TokenRules rules = {};
  std::int32_t begin = -1, end = -1;
};
SentencePieces read_sentence_pieces(const std::string& file);
/// The same of the bytes of one.
SentencePieces sentence_pieces_in(std::string_view bytes);

/// How a byte is spelled as a piece: "<0x0A>".
std::string byte_piece(int byte);
/// What a piece stands for.
std::string text_of_piece(const std::string& piece);

}  // namespace lethe
