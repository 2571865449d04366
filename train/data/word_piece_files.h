// BERT's tokens: word pieces, by vocab.txt or as tokenizer.json states them.
#pragma once
#include <string>

#include "train/data/rule_tokenizer.h"

namespace lethe {

struct WordPieceForm {
  BertForm bert = {};
  WordPieceRules pieces = {};
  bool joins_marks = true;  // tokens become text without a blank before . ? ! , and endings of English
};
/// Sets what follows from the form; rules.texts are the pieces as they are spelled. Fails with Exit::Data unless token
/// 0 is [PAD], which networks take as padding.
void set_word_pieces(WordPieceForm form, const TokenNumbers& numbers, TokenRules& rules);

/// vocab.txt, a token in each line, read by the rule of BERT's published vocabularies, or as tokenizer_config.json
/// there says. Fails with Exit::Data, file and line.
TokenRules read_vocab_txt(const std::string& directory);

}  // namespace lethe
