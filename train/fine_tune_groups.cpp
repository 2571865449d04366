// Options of who begins from what exists: what of it may be new, and how fast each part learns.
#include "optimizer/rate_scales.h"
#include "train/option_groups.h"

namespace lethe {

OptionRow* add_fresh(OptionSet& set, Options& o) {
  set.in("Checkpoints");
  return set.add("--fresh", o.checkpoints.weights.fresh, "NAMES",
                 "Of --weights: these may be missing there or of another shape, and are made anew then by the seed:\n"
                 "names with commas between, * for any characters, as 'logits.*'; the network's, or the file's own");
}

OptionRow* add_ignore(OptionSet& set, Options& o) {
  set.in("Checkpoints");
  return set.add("--ignore", o.checkpoints.weights.ignore, "NAMES",
                 "Of --weights: tensors of the file that are taken as if they were not there, as 'head.*'");
}

void add_own_rates(OptionSet& set, Options& o) {
  set.in("Training");
  set.add("--lr-of", o.program.update.rates.of, "RATES",
          "Learning rates of their own, as 'head.*=10x,norm.*=3e-4': times that of the others, or a rate that\n"
          "follows the schedule too; * stands for any characters, and the last that means a parameter counts")
      ->check({complaint_about_rates})
      ->is({Fact::Kept, Fact::OfOptimizer});
  set.add("--layer-decay", o.program.update.rates.layer_decay, "X",
          "Each layer has X times the learning rate of the layer above it, the head all of it (default 1)")
      ->check(portion())
      ->is({Fact::Kept, Fact::OfOptimizer});
}

}  // namespace lethe
