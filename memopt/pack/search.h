// The exact part of packing: a depth-first search that finds a packing within a capacity, or shows that there is none.
//
// Wherever there is a packing there is a canonical one, in which nothing can be moved to a lower gap; then everything
// stands on the ground or on something that lives at the same time. The search builds that: it takes an item that
// nothing left can slide under, and either lets it stand where it is now, or notes that it will be raised by something
// that comes under it. That is local: what lives at other times takes no part, and where no item left crosses an
// instant the two sides are searched apart. (Canonical placements, bounds by section of time, dominance and splitting
// in time are those of MiniMalloc: Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated
// Machine Learning", ASPLOS 2023.)
#pragma once
#include <cstdint>
#include <vector>

#include "memopt/pack/pack.h"
#include "memopt/pack/time.h"

namespace lethe {

enum class SearchResult : std::uint8_t { Found, Impossible, OutOfWork };

/// Which item the search decides on first: the lowest, or one in whose time few could come first and much has failed.
enum class Guide : std::uint8_t { Lowest, Conflict };

class PackSearch {
 public:
  /// Items have size and life. Both arguments must outlive this.
  PackSearch(const std::vector<PackItem>& items, const PackTime& time, std::int64_t capacity);

  /// For at most `work` units; of equals the first in `order` is tried first. Earlier runs help:
  /// states known to fail are passed over.
  SearchResult run(const std::vector<int>& order, Guide guide, std::int64_t work);
  const std::vector<std::int64_t>& offsets() const { return place_; }  // by item, after Found
  std::int64_t work() const { return work_; }                          // of all runs

 private:
  struct Part {  // items still to be placed, that no instant divides
    std::vector<int> items;
    int begin = 0, end = 0;  // sections
  };
  struct Change {
    int item;
    std::int64_t place, low;
    bool will_rise;
  };

  std::vector<Part> parts_of(const std::vector<int>& items) const;
  void sort_parts(std::vector<Part>& parts) const;
  SearchResult search_parts(const std::vector<int>& items);
  SearchResult search(const Part& part);
  SearchResult place(const Part& part, int item);
  bool tighten(const Part& part);
  bool gather_dirty(const Part& part);
  void refresh(int section);
  bool raise(int item);
  std::int64_t low_if_raised(int item) const;
  bool can_slide_under(int item) const;
  int choose(const Part& part);
  std::uint64_t key_of(const Part& part) const;
  void raise_twins(int item);
  void change(int item, std::int64_t place, std::int64_t low, bool will_rise);
  void undo(std::size_t mark);
  void count(int item, int sign);
  void take_back(int item);
  bool fail_at(int section);
  void clear_dirty(const Part& part);

  const PackTime& time_;
  std::int64_t capacity_;
  int count_;
  // By item.
  std::vector<std::int64_t> size_;
  std::vector<std::vector<int>> overlaps_;
  std::vector<std::vector<int>> twins_;
  std::vector<int> by_birth_;  // all items, sorted
  std::vector<int> rank_;
  std::vector<char> placed_;
  std::vector<char> will_rise_;      // it will not stand at its place
  std::vector<std::int64_t> place_;  // where it stands if nothing more comes under it
  std::vector<std::int64_t> low_;    // no completion has it lower; far, when placed
  std::vector<char> queued_;
  // By section.
  std::vector<std::vector<int>> live_;  // items
  std::vector<std::int64_t> room_;      // capacity less the bytes still to be placed: highest place of what comes first
  std::vector<std::int64_t> first_top_;   // lowest top of what can come first
  std::vector<std::int64_t> lowest_top_;  // of anything
  std::vector<int> firsts_;               // how many can come first
  std::vector<char> stale_;               // the three above must be found anew
  std::vector<char> dirty_;               // what lives here may follow to be higher
  std::vector<double> score_;
  std::vector<double> weight_;  // 1 and how often this run failed here

  std::vector<Change> trail_;
  std::vector<int> queue_;
  std::vector<std::uint64_t> failed_;
  Guide guide_ = Guide::Lowest;
  std::int64_t work_left_ = 0, work_ = 0;
};

}  // namespace lethe
