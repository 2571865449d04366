// GPT-2's rule for words, none of which a token goes beyond:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// An ending of English, else letters, numbers or other characters with one blank before them, else white space but for
// the last character of it, which belongs to the word behind.
#pragma once
#include <cstddef>
#include <string_view>

namespace lethe {

/// The bytes of the word that begins at `at`, where one ended or the text begins. All of a text is words.
std::size_t word_length(std::string_view text, std::size_t at);

}  // namespace lethe
