#include "train/data/pair_merges.h"

#include <algorithm>

#include "framework/error.h"
#include "train/data/checksum.h"

namespace lethe {
namespace {

constexpr std::uint32_t kNoNode = UINT32_MAX;
constexpr std::int32_t kMergedAway = -1;

}  // namespace

std::uint64_t PairMerges::key_of(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

bool PairMerges::comes_later(const Candidate& a, const Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
}

bool PairMerges::add(std::int32_t left, std::int32_t right, std::int32_t merged, std::int32_t rank) {
  for (const std::int32_t token : {left, right, merged})
    checksum_ = checksum_of(std::as_bytes(std::span(&token, 1)), checksum_);
  return merges_.emplace(key_of(left, right), Merge{rank, merged}).second;
}

void PairMerges::encode(std::span<const std::int32_t> word, std::vector<std::int32_t>& tokens) {
  check_as(Exit::Data, word.size() < kNoNode, "a word of ", word.size(), " symbols is longer than can be encoded, ",
           kNoNode - 1);
  fill(word);
  while (!heap_.empty()) {
    std::ranges::pop_heap(heap_, comes_later);
    const Candidate first = heap_.back();
    heap_.pop_back();
    merge(first);
  }
  for (std::uint32_t at = 0; at < nodes_.size(); at = nodes_[at].after) tokens.push_back(nodes_[at].token);
}

void PairMerges::fill(std::span<const std::int32_t> word) {
  const auto size = static_cast<std::uint32_t>(word.size());
  nodes_.resize(size);
  for (std::uint32_t i = 0; i < size; ++i)
    nodes_[i] = {.token = word[i], .before = i == 0 ? kNoNode : i - 1, .after = i + 1 == size ? kNoNode : i + 1};
  for (std::uint32_t i = 0; i < size; ++i) add_candidate(i);
}

void PairMerges::add_candidate(std::uint32_t left) {
  const Node& node = nodes_[left];
  if (node.after == kNoNode) return;
  const std::int32_t right_token = nodes_[node.after].token;
  const auto found = merges_.find(key_of(node.token, right_token));
  if (found == merges_.end()) return;
  heap_.push_back({.rank = found->second.rank, .left = left, .left_token = node.token, .right_token = right_token});
  std::ranges::push_heap(heap_, comes_later);
}

void PairMerges::merge(const Candidate& candidate) {
  Node& left = nodes_[candidate.left];
  if (left.token != candidate.left_token || left.after == kNoNode) return;
  Node& right = nodes_[left.after];
  if (right.token != candidate.right_token) return;
  left.token = merges_.at(key_of(left.token, right.token)).merged;
  right.token = kMergedAway;
  left.after = right.after;
  if (left.after != kNoNode) nodes_[left.after].before = candidate.left;
  if (left.before != kNoNode) add_candidate(left.before);
  add_candidate(candidate.left);
}

}  // namespace lethe
