// A search over the sets of ops that may have run, for an order in which no more than so many bytes are alive at once.
// An op that leaves no more alive than there was before runs at once; so do some in a row; one that frees nothing waits
// until another needs it. None of these loses an order that is looked for, and for most networks some hundred sets are
// all there are.
#pragma once
#include <optional>

#include "memopt/recompute/tape.h"

namespace lethe {

/// Ops that run kernels, numbered as they stand. Where they read and write the same value, their order is kept. No more
/// is counted than an arena holds in that order: what may stand in place of an operand does, and what loops and
/// branches hold inside is left out.
class OrderSearch {
 public:
  /// `looks`: how often ops may be looked at in all calls, to see what running one next would take. Searches of the zoo
  /// mostly end within 2 to 90 for each op.
  OrderSearch(const Tape& tape, int looks);

  struct Found {
    std::vector<int> ops = {};  // of the tape, without views
    std::int64_t peak = 0;      // bytes
  };
  /// Bytes that are alive at most as the ops stand.
  std::int64_t peak();
  /// An order in which no more than `limit` is alive; nothing if none was found.
  std::optional<Found> within(std::int64_t limit);
  /// Whether the work, which is bounded, came to its end, and not the sets: then there may be an order all the same.
  bool gave_up() const { return gave_up_ || is_at_end(); }

 private:
  using Bits = std::vector<std::uint64_t>;
  struct State {
    Bits done;
    std::int64_t alive = 0;  // bytes after the last op
    int path = -1;           // its last op, in paths_
    std::vector<int> ready = {};
  };
  struct Taken {
    std::int64_t peak = 0, alive = 0;  // bytes while an op runs, and after it
  };

  static bool has(const Bits& bits, int i) { return (bits[i / 64] >> (i % 64) & 1) != 0; }
  static void put(Bits& bits, int i) { bits[i / 64] |= std::uint64_t{1} << (i % 64); }
  int count() const { return static_cast<int>(ops_.size()); }
  const TapeCall& call(int i) const { return tape_.ops[ops_[i]].call; }
  bool counts(VarId v) const { return tape_.values[v].bytes > 0 && !tape_.values[v].given; }
  bool is_born(VarId v, int i, const Bits& done) const;
  bool dies(VarId v, int i, const Bits& done) const;
  bool may_lie_in(VarId out, VarId in) const;
  bool may_wait(int i) const;
  std::int64_t least_beside(int i) const;
  bool outlives(VarId v, int i) const;
  bool is_at_end() const;
  std::int64_t peak_of(const std::vector<int>& order);
  Taken after(const Bits& done, std::int64_t alive, int i);
  std::optional<State> moved(State state, int i, std::int64_t limit);
  bool run(State& state, int i, std::int64_t limit);
  void add_ready(State& state, int i);
  bool is_ready(const Bits& done, int i) const;
  bool is_free(const State& from, int i, const State& to);
  bool leaves_least(const State& from, const std::vector<int>& row, std::int64_t least);
  Found found(int path);

  const Tape& tape_;
  std::vector<int> ops_ = {};                             // of the tape, by number
  std::vector<std::vector<int>> needs_ = {}, then_ = {};  // by op: those that run before it, and those that wait for it
  std::vector<std::vector<int>> users_;                   // by value
  std::vector<bool> waits_ = {};                          // by op: it runs when another needs it
  std::int64_t given_ = 0;
  int looks_ = 0, most_looks_ = 0;
  bool gave_up_ = false;
  std::vector<std::pair<int, int>> paths_ = {};  // an op that ran, and what ran before it
};

}  // namespace lethe
