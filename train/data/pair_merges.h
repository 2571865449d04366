// Byte pair encoding: the bytes or characters of a word are merged into tokens.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace lethe {

/// Of all tokens of a word side by side those are merged into one whose merge has the lowest rank, the leftmost first,
/// until none can be merged.
class PairMerges {
 public:
  /// The next merge in the list, whose rank is its number; false if those two have one already.
  bool add(std::int32_t left, std::int32_t right, std::int32_t merged) { return add(left, right, merged, count()); }
  bool add(std::int32_t left, std::int32_t right, std::int32_t merged, std::int32_t rank);
  std::int32_t count() const { return static_cast<std::int32_t>(merges_.size()); }
  /// The checksum of all merges in their order.
  std::uint32_t checksum() const { return checksum_; }
  /// Appends what the tokens of a word, a byte or a character each, are merged into.
  /// Takes n log n time and 32 n bytes for a word of n tokens.
  void encode(std::span<const std::int32_t> word, std::vector<std::int32_t>& tokens);

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
  void fill(std::span<const std::int32_t> word);
  void add_candidate(std::uint32_t left);
  void merge(const Candidate& candidate);

  std::unordered_map<std::uint64_t, Merge> merges_;
  std::uint32_t checksum_ = 0;
  std::vector<Node> nodes_;  // of the word at hand, as is the heap
  std::vector<Candidate> heap_;
};

}  // namespace lethe
