// By which rule merges are to be read, as the files say that the tokenizers library puts beside them.
#pragma once
#include <string>

namespace lethe {

/// Fails with Exit::Data if tokenizer.json or tokenizer_config.json in the directory states another rule or class than
/// GPT-2's, whose merges alone are read (train/data/words.h): another way to cut or change text, another model than
/// byte pairs, tokens that are looked for in text. Without such files GPT-2's rule is taken.
void check_rules_of_gpt2(const std::string& directory);

}  // namespace lethe
