// A batch that goes through the network in parts, one after the other, whose gradients are summed before the update:
// a step takes the activations of one part. The parts are equal shards of the batch, in order; their sums are those of
// a fixed binary tree over them, whoever computes which part.
#pragma once
#include <vector>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/network.h"
#include "framework/ranks/peers.h"

namespace lethe {

/// A network with its backward part after it.
struct NetworkWithGradients {
  Network network;
  std::vector<ParamGrad> gradients;
};

/// Where parts are made: on the ranks in turn, equally many on each.
struct Shards {
  std::int64_t parts = 1;  // of the whole batch
  Rank rank = {};
  std::int64_t bucket = std::int64_t{1} << 20;  // bytes of small gradients that ranks sum together
  int zero = 0;  // what each rank has a share of: 1: states of the update, 2: gradients too, 3: parameters too
  DType sums = DType::f32;  // what parts give is summed in this, or in its own dtype if that is wider; rounded once
  DType accumulate = DType::f32;  // bf16: gradients are summed in this, on one rank alone, each sum rounded by chance
  std::uint64_t seed = 0;         // of that
  std::int64_t own() const { return parts / rank.of; }
};

/// `part`: of a batch of one part's size, backward begun by append_loss_share. Gives that of `parts` times as many
/// samples: inputs and `correct` are those of the whole batch, loss and gradients the means over the parts. Every part
/// has vars of its own, from the second on called "@PART2".. after the names; parameters and states are one, so each
/// part has its own batch-norm statistics and the running ones take them in turn. Dropout drops the same elements of a
/// sample as without parts, if the batch is the outermost axis where it is applied; losses that ignore labels weigh
/// them by how many the whole batch has. Fails if such labels are not fed. Where a part sums over all (sum_over_parts),
/// all come so far before any goes on; what is made of such sums alone is made once.
///
/// On one of several ranks inputs and `correct` are those of its own parts, all else is the same on each: gradients
/// (or, if so asked, the rank's shares of them) and loss are those of the whole batch, running statistics take the
/// batch statistics of all parts in turn. Since each rank's parts are a subtree, what comes out does not depend on how
/// many ranks there are, to the bit. Fails unless ranks divide the parts, and each has 1, 2, 4, 8... of them.
NetworkWithGradients in_parts(NetworkWithGradients part, const Shards& shards);

}  // namespace lethe
