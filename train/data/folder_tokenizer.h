// The tokenizer that the files of a folder make up, as people publish it beside a network.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/data/tokenizer.h"

namespace lethe {

/// A file of a tokenizer.
struct TokenizerFile {
  std::string name = {}, path = {};         // in a copy; where it was read
  std::optional<std::string> content = {};  // where the path's file is another than the copy
};

struct FolderTokenizer {
  std::unique_ptr<Tokenizer> tokenizer = {};
  std::optional<std::int32_t> end = {};   // the token after a document
  std::vector<TokenizerFile> files = {};  // that it was read from
};

/// Reads, by the files that are there:
///   GPT-2's vocab.json and merges.txt, unless another file says that their rule is not GPT-2's: text that spells
///     <|endoftext|> stays text;
///   or tokenizer.json (train/data/tokenizer_json.h): its added tokens are found in text;
///   or tokenizer.model, of sentencepiece (train/data/sentencepiece_file.h);
///   or vocab.txt, of BERT (train/data/word_piece_files.h).
/// In place of a folder there may be a GGUF file, whose keys say the same as tokenizer.json or tokenizer.model
/// (train/data/gguf_tokenizer.h).
/// tokenizer_config.json and special_tokens_map.json say what ends a text and stands beside it; added_tokens.json and,
/// beside GPT-2's files alone, the model_type of config.json must agree. Fails with Exit::Data and the file's name for
/// another rule than these know, for files that contradict each other, and for none.
FolderTokenizer open_folder_tokenizer(const std::string& directory);
/// Whether there is one of those files.
bool has_folder_tokenizer(const std::string& directory);
/// That there is none of those files, or no such folder; "" if there is.
std::string why_no_tokenizer(const std::string& directory);

/// {"token": number} of tokens that were added to a vocabulary.
inline constexpr const char* kAddedFile = "added_tokens.json";

/// Why the files of a folder state another rule than GPT-2's for its merges; "" if they do not.
std::string why_not_gpt2(const std::string& directory);

}  // namespace lethe
