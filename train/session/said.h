// What ranks tell each other behind each step.
#pragma once
#include "framework/peers.h"

namespace lethe {

struct Said {
  std::int64_t labels = 0, correct = 0;  // of the step's samples
  std::int64_t stop = 0, save = 0;       // how many ranks ask for it
};

/// The sums of what all ranks say; without others what this one says.
Said said_by_all(Peers* peers, const Said& own);

}  // namespace lethe
