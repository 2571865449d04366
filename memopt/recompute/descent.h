// The search for the cheapest choice that stays below a target: greedy moves on what a run under a choice really takes.
#pragma once
#include <limits>
#include <optional>

#include "memopt/recompute/replay.h"
#include "memopt/recompute/walk.h"

namespace lethe {

/// Whether a program is searched more thoroughly, and its targets one after the other.
bool is_small(const Tape& tape);

/// How many candidates are moved one by one; more are moved in groups. The fewer the longer it takes to try a move.
std::size_t most_moved(const Tape& tape);

class Descent {
 public:
  /// Begins with all that is kept.
  explicit Descent(const Tape& tape);

  /// Lets go of values until the peak is no higher, then keeps again what the target allows; false if it cannot. Begins
  /// anew with other choices where the first is a dead end, in small programs always.
  bool reach(std::int64_t target);

  /// The same from where it is alone.
  bool go_on(std::int64_t target);

  /// Lets go of values until the peak is no higher; false if it cannot, or if that takes more than `most` seconds.
  bool descend(std::int64_t target, double most = std::numeric_limits<double>::infinity());

  /// Steps of all choices tried so far, each counted from the first op on. Searches give up after so many, so plans
  /// depend on this count, and not on where a walk really began.
  double walked() const { return walked_; }

  void begin_with(Choice choice) { best_ = *tried(std::move(choice)); }

  /// Keeps again what the target allows, the costliest first.
  void prune(std::int64_t target);

  /// Changes what it has, one value and two at a time, as long as that helps; false if the peak is still higher. For
  /// small programs.
  bool refine(std::int64_t target);

  const Choice& choice() const { return best_.choice; }
  const Course& course() const { return best_.course; }
  Rung rung() const { return {.choice = choice(), .peak = course().peak, .seconds = course().seconds}; }

 private:
  /// A choice with what it comes to.
  struct Tried {
    Choice choice;
    Course course;
  };
  /// Values that change together.
  struct Move {
    std::vector<VarId> values;
    RecomputePolicy to = RecomputePolicy::Once;
  };

  std::optional<Tried> tried(Choice choice);
  std::optional<Tried> with(const Move& move);
  void find_groups();
  void find_segments();
  std::vector<Move> moves(bool deeper) const;
  std::vector<double> over(std::int64_t target) const;
  double promise(const Move& move, const std::vector<double>& over) const;
  double cost(const std::vector<VarId>& values) const;

  void make_moves(std::int64_t target, const std::vector<Move>& all, double most);
  bool let_all_go(RecomputePolicy to);
  bool settle(std::int64_t target);

  const Tape* tape_;
  Walk walk_;
  Tried best_;
  std::vector<std::vector<VarId>> groups_;  // of candidates, one by one unless there are very many
  std::vector<Move> segments_;
  double walked_ = 0;
};

}  // namespace lethe
