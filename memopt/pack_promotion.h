// Greedy packing that learns from its failures: what ended too high is placed earlier in the next round. (Known as
// squeaky wheel optimization: Joslin and Clements, Journal of Artificial Intelligence Research 10, 1999.)
#pragma once
#include <cstdint>
#include <vector>

#include "memopt/pack.h"
#include "memopt/pack_fit.h"

namespace lethe {

class PackPromotion {
 public:
  explicit PackPromotion(std::vector<int> order);

  /// Packs once; the offsets are those of `greedy`. What ends above `target` moves up for the next round, by as many
  /// ranks as there are items, so that everything that never did comes after it. The height.
  std::int64_t round(const std::vector<PackItem>& items, PackFit& greedy, std::int64_t target);

 private:
  std::vector<int> order_;
  std::vector<std::int64_t> rank_;  // by item
};

}  // namespace lethe
