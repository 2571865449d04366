// Rules by which texts are cut in words, none of which a token goes beyond.
#pragma once
#include <cstddef>
#include <string_view>

namespace lethe {

/// Gives the bytes of the word that begins at `at`, where one ended or the text begins. All of a text is words.
using WordRule = std::size_t (*)(std::string_view text, std::size_t at);

/// GPT-2's:
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// A word is an ending of English, else letters, numbers or other characters with one blank before them, else white
/// space but for its last character, which belongs to the word after it.
std::size_t word_of_gpt2(std::string_view text, std::size_t at);
/// SmolLM2's: each number is a word, and what stands between two of them is cut by GPT-2's rule.
std::size_t word_of_smollm2(std::string_view text, std::size_t at);

/// Llama 3's:
///   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
///   ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
/// Any character may stand before letters but numbers and line ends, there are three numbers at most, and line ends
/// belong to what stands before them.
std::size_t word_of_llama3(std::string_view text, std::size_t at);
/// Qwen2's: the same with one number.
std::size_t word_of_qwen2(std::string_view text, std::size_t at);

/// BERT's: white space, a mark, or what stands between those.
std::size_t word_of_bert(std::string_view text, std::size_t at);

/// How sentencepiece writes a blank, U+2581.
inline constexpr std::string_view kPieceBlank = "\xe2\x96\x81";
/// Its blanks, and what follows up to the next one.
std::size_t word_of_pieces(std::string_view text, std::size_t at);
/// The same, but each blank begins a word.
std::size_t word_of_metaspace(std::string_view text, std::size_t at);
/// All that is left.
std::size_t whole_text(std::string_view text, std::size_t at);

}  // namespace lethe
