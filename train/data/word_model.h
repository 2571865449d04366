// How a word becomes tokens: by merges of bytes, by merges of characters, or by the longest pieces (WordPiece).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "train/data/pair_merges.h"

namespace lethe {

/// Looks words up by a part of a text.
struct WordHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
};
/// Numbers by what tokens stand for, or by how a file spells them.
using TokenNumbers = std::unordered_map<std::string, std::int32_t, WordHash, std::equal_to<>>;

class WordModel {
 public:
  virtual ~WordModel() = default;
  /// Appends the tokens of a word.
  virtual void encode(std::string_view word, std::vector<std::int32_t>& tokens) = 0;
};

using TokensOfBytes = std::array<std::int32_t, 256>;
inline constexpr std::int32_t kNoToken = -1;

/// Tokens are merged from bytes; a word that is in `whole` is that token without merges. Texts with a byte that is no
/// token fail (Exit::Data): others leave it out, without a word.
std::unique_ptr<WordModel> byte_pairs(PairMerges merges, const TokensOfBytes& bytes, TokenNumbers whole = {});

/// What stands for a character that is no token.
struct UnknownCharacters {
  std::optional<TokensOfBytes> bytes = {};  // its bytes
  std::optional<std::int32_t> token = {};   // or else this one, if any
  bool is_one = false;                      // for several side by side
};
/// Tokens are merged from characters. Bytes that are no UTF-8 are unknown characters.
std::unique_ptr<WordModel> character_pairs(PairMerges merges, TokenNumbers characters, UnknownCharacters unknown);

struct WordPieceRules {
  std::int32_t unknown = 0;            // stands for a word that no pieces make up
  std::string prefix = "##";           // of pieces that begin no word
  std::int64_t most_characters = 100;  // of a word; a longer one is unknown
};
/// A word is the longest piece that it begins with, and so on. White space is no token.
std::unique_ptr<WordModel> word_pieces(TokenNumbers pieces, WordPieceRules rules);

}  // namespace lethe
