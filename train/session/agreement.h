// What ranks that train together tell each other: that they have the same of everything that the bits depend on, and
// their totals after each step.
#pragma once
#include <string>

#include "framework/language/program.h"
#include "framework/ranks/peers.h"
#include "train/data/samples.h"

namespace lethe {

/// Fails with Exit::Usage on all ranks, naming the first that differs from rank 0, unless all say the same of `what`
/// ("the plan").
void check_agreed(Peers& peers, const std::string& what, const std::string& said);

/// A line for each exchange with other ranks, in their order.
std::string exchanges_of(const Program& program);

/// Which samples these are, by their number and by the first and the last of them, as `dtype`.
std::string fingerprint(const Samples& samples, DType dtype);

/// A rank's counts of a step.
struct StepTotals {
  std::int64_t labels = 0, correct = 0;  // of the step's samples
  std::int64_t stop = 0, save = 0;       // how many ranks ask for it
};

/// The sums over all ranks; without others what this one has.
StepTotals totals_of_ranks(Peers* peers, const StepTotals& own);

}  // namespace lethe
