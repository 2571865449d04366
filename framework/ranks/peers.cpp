#include "framework/ranks/peers.h"

#include <algorithm>

#include "framework/language/block_formats.h"

namespace lethe {

std::int64_t size_of_share(std::int64_t count, std::int64_t ranks) {
  const std::int64_t share = (count + ranks - 1) / ranks;
  return ranks == 1 || count < kLeastInBlocks ? share : (share + kDynamicBlock - 1) / kDynamicBlock * kDynamicBlock;
}

Share share_of(std::int64_t count, Rank rank) {
  const std::int64_t size = size_of_share(count, rank.of), begin = std::min(rank.number * size, count);
  return {begin, std::min(size, count - begin)};
}

std::int64_t piece_of_sum(std::int64_t count, std::int64_t ranks) {
  constexpr std::int64_t kRoom = std::int64_t{1} << 18, kLeast = std::int64_t{1} << 12;
  if (ranks < 2) return count;
  return std::min(size_of_share(count, ranks), std::max(kRoom / (ranks - 1), kLeast));
}

std::int64_t room_of_sum(std::int64_t count, std::int64_t ranks) { return (ranks - 1) * piece_of_sum(count, ranks); }

}  // namespace lethe
