#include "train/session/step_totals.h"

#include <vector>

namespace lethe {

StepTotals totals_of_ranks(Peers* peers, const StepTotals& own) {
  if (!peers) return own;
  std::vector<StepTotals> all(static_cast<std::size_t>(peers->rank().of));
  all[static_cast<std::size_t>(peers->rank().number)] = own;
  peers->gather(all.data(), sizeof(StepTotals));
  StepTotals sum;
  for (const StepTotals& said : all) {
    sum.labels += said.labels;
    sum.correct += said.correct;
    sum.stop += said.stop;
    sum.save += said.save;
  }
  return sum;
}

}  // namespace lethe
