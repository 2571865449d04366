// Greedy packing: one item after the other, each into a gap between those that live at the same time.
#pragma once
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "memopt/pack/pack.h"
#include "memopt/pack/time.h"

namespace lethe {

/// Disjoint, sorted, with gaps in between.
class OffsetRanges {
 public:
  struct Range {
    std::int64_t begin = 0, end = 0;
  };
  /// The number of ranges that it moved.
  std::int64_t add(Range range);
  void clear() { ranges_.clear(); }
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;
};

enum class Gap : std::uint8_t { First, Tightest };

/// What counts as work beside ranges looked at, and where a run gives up.
struct PackFitWork {
  std::int64_t node = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();  // of all runs together
};

/// A segment tree over time. A node knows which offsets are taken during all of its time (by items cut into just these
/// pieces), and which at some instant of it. An item meets O(log n) nodes, and neighbours without a gap count as one,
/// so a dense packing costs little more than sorting.
class PackFit {
 public:
  /// Items have size and life. Both arguments must outlive this.
  PackFit(const std::vector<PackItem>& items, const PackTime& time, const PackFitWork& counted = {});

  /// Places all in this order. Gives the height; `most` if that is not below it or the work does not suffice: then the
  /// offsets are unfinished.
  std::int64_t run(const std::vector<int>& order, Gap which, std::int64_t most);
  const std::vector<std::int64_t>& offsets() const { return offsets_; }  // by item
  /// Of all runs, and what was spent elsewhere.
  std::int64_t work() const { return work_; }
  void spend(std::int64_t work) { work_ += work; }

 private:
  struct Node {
    OffsetRanges throughout, somewhere;
  };
  struct Cursor {
    const std::vector<OffsetRanges::Range>* ranges;
    std::size_t at;
  };

  void gather(std::size_t node, int begin, int end, int item);
  void take(std::size_t node, int begin, int end, int item, OffsetRanges::Range range);
  std::int64_t first_gap(std::int64_t& at, std::int64_t size);
  std::int64_t find_gap(int item, Gap which);

  const std::vector<PackItem>& items_;
  const PackTime& time_;
  PackFitWork counted_;
  std::vector<Node> nodes_;
  std::vector<Cursor> cursors_;  // of what the item at hand meets
  std::vector<std::int64_t> offsets_;
  std::int64_t work_ = 0;
};

/// Greedy packing that learns from its failures: what ended too high is placed earlier in the next round. (Known as
/// squeaky wheel optimization: Joslin and Clements, Journal of Artificial Intelligence Research 10, 1999.)
class PackPromotion {
 public:
  explicit PackPromotion(std::vector<int> order);

  /// Packs once; the offsets are those of `greedy`. What ends above `target` moves up for the next round, by as many
  /// ranks as there are items, so that everything that never did comes after it. Gives the height.
  std::int64_t round(const std::vector<PackItem>& items, PackFit& greedy, std::int64_t target);

 private:
  std::vector<int> order_;
  std::vector<std::int64_t> rank_;  // by item
};

}  // namespace lethe
