// The lifetimes that optnet saw by hooking the calls of modules, from the module tree alone. A clock counts the calls,
// containers included and before what they call; a record is made when a storage is first met, and remembers whose
// tensor showed it: one that its module repoints by itself stays a ghost.
#pragma once
#include <vector>

#include "train/optnet/optnet.h"
#include "train/optnet/torch_storage.h"

namespace lethe {

struct OptnetLives {
  std::vector<OptnetRecord> records;  // in the order of their first call
  std::vector<int> storage;           // by record: index into TorchStorages::elements
};

/// Of outputs, in one forward pass: every call reads its inputs; a leaf writes its output; a Concat at its entry its
/// own output and its branches' last ones, which it reads at the end of all of them.
OptnetLives inference_lives(const TorchNet& net, const TorchStorages& storages);

/// Of gradients, in one backward pass after a forward pass, as optnet of 19 March 2016 had it: a leaf is called three
/// times, each of which reads its output's gradient; the gradient of the input is written at the first call that shows
/// it, for a Sequential at its entry. Gradients that a branch gives to its Concat or ConcatTable count as never read.
OptnetLives training_lives(const TorchNet& net, const TorchStorages& storages);

}  // namespace lethe
