// GPT-2's byte pair encoding of a text: it is cut in words, and the bytes of a word are merged into tokens.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lethe {

/// GPT-2's rule for words, none of which a token goes beyond:
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// A word is an ending of English, else letters, numbers or other characters with one blank before them, else white
/// space but for its last character, which belongs to the word after it. Gives the bytes of the word that begins at
/// `at`, where one ended or the text begins. All of a text is words.
std::size_t word_length(std::string_view text, std::size_t at);

/// Byte pair encoding of a word: its bytes are tokens, and of all tokens side by side those are merged into one whose
/// merge comes first in the list, the leftmost first, until none can be merged.
class PairMerges {
 public:
  explicit PairMerges(const std::array<std::int32_t, 256>& token_of_byte) : token_of_byte_(token_of_byte) {}
  /// The next merge in the list; false if those two have one already.
  bool add(std::int32_t left, std::int32_t right, std::int32_t merged);
  /// The checksum of all merges in their order.
  std::uint32_t checksum() const { return checksum_; }
  /// Appends the tokens of a word. Takes n log n time and 32 n bytes for one of n bytes.
  void encode(std::string_view word, std::vector<std::int32_t>& tokens);

 private:
  struct Merge {
    std::int32_t rank, merged;
  };
  /// Tokens of the word as a list; what has been merged into the token before has left it.
  struct Node {
    std::int32_t token;
    std::uint32_t before, after;
  };
  /// Two tokens that could be merged once; they tell whether they still can.
  struct Candidate {
    std::int32_t rank;
    std::uint32_t left;
    std::int32_t left_token, right_token;
  };
  static std::uint64_t key_of(std::int32_t left, std::int32_t right);
  static bool comes_later(const Candidate& a, const Candidate& b);
  void fill(std::string_view word);
  void add_candidate(std::uint32_t left);
  void merge(const Candidate& candidate);

  std::array<std::int32_t, 256> token_of_byte_;
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::uint32_t checksum_ = 0;
  std::vector<Node> nodes_;  // of the word at hand, as is the heap
  std::vector<Candidate> heap_;
};

}  // namespace lethe
