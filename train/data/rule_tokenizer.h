// A tokenizer by the rules of its family: a text is cut at added tokens, brought into a form and cut in words, and each
// word becomes tokens.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "train/data/added_tokens.h"
#include "train/data/text_form.h"
#include "train/data/tokenizer.h"
#include "train/data/word_model.h"
#include "train/data/words.h"

namespace lethe {

struct TokenRules {
  TokenKind kind = TokenKind::Pairs;
  std::vector<std::string> texts = {};  // what each token stands for
  std::uint32_t checksum = 0;           // of what else decides which tokens a text becomes
  std::vector<AddedToken> added = {};
  TextForm form = {};
  WordRule word = whole_text;
  std::unique_ptr<WordModel> model = {};
  Frame frame = {};
};

std::unique_ptr<Tokenizer> tokenizer_by(TokenRules rules);

}  // namespace lethe
