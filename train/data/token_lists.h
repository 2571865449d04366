// Lists of tokens and merges as files have them: tokens by their spelling, with the number of each.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "train/data/word_model.h"

namespace lethe {

/// The bytes that a token of GPT-2's files stands for; one that is not spelled so, such as a mark with a blank, for
/// itself.
std::string bytes_spelled(const std::string& token);
/// The token of each byte, kNoToken for one that has none.
TokensOfBytes known_bytes(const TokenNumbers& numbers);
/// The same. Fails with Exit::Data if a byte has none.
TokensOfBytes tokens_of_bytes(const TokenNumbers& numbers);

/// How the tokens are spelled, by number. Fails with Exit::Data unless these are 0 to their count - 1, each once.
std::vector<std::string> tokens_by_number(const TokenNumbers& numbers);

/// Adds the next merge of a list. Fails with Exit::Data if `numbers`, which `whose` has, lacks one of its tokens, or if
/// it stands there twice.
void add_merge(PairMerges& merges, const TokenNumbers& numbers, const std::string& whose, std::string_view left,
               std::string_view right);

}  // namespace lethe
