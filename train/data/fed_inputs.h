// Which inputs of a network data is fed into.
#pragma once
#include <cstdint>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// What a data set is fed into, and what becomes of it. Each label is a row of its own in sample_loss and correct;
/// those of a sample stand together, in their order. A loss that takes no labels has a row a sample.
struct FedInputs {
  std::vector<VarId> inputs = {};  // beside the labels, in their order; what a loss without labels reads is one of them
  VarId samples = kNone;           // of them: the first of floats, else the first
  VarId labels = kNone;            // kNone: the first loss takes none
  VarId target = kNone;            // what the first loss reads: the labels, or of the inputs; kNone: it is made of them
  std::int64_t rows = 1;           // of a sample
  VarId other_labels = kNone, shares = kNone;  // of samples that are mixed (mixed_targets.h)
  bool chances = false;                        // the first loss is bce: the target has 0 and 1, or what is between
};

}  // namespace lethe
