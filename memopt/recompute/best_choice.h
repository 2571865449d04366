// The best choice there is for a small program: all are gone through but those that cannot be better.
#pragma once
#include <cstdint>
#include <optional>

#include "memopt/recompute/replay.h"

namespace lethe {

struct BestChoice {
  std::optional<Rung> rung;
  int trials = 0;        // runs that were looked at
  bool is_best = false;  // no choice of Keep, Once and PerUse is cheaper; false if it was stopped
};

/// Begins with `known`, whose peak is no higher than `target`. Stops after `most` trials.
BestChoice best_choice(const Tape& tape, std::int64_t target, std::optional<Rung> known, int most);

}  // namespace lethe
