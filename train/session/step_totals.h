// What ranks tell each other after each step.
#pragma once
#include "framework/ranks/peers.h"

namespace lethe {

struct StepTotals {
  std::int64_t labels = 0, correct = 0;  // of the step's samples
  std::int64_t stop = 0, save = 0;       // how many ranks ask for it
};

/// The sums over all ranks; without others what this one has.
StepTotals totals_of_ranks(Peers* peers, const StepTotals& own);

}  // namespace lethe
