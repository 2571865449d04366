// Which storage each module's output and gradient of its input are in, once Torch7 has run a network forward and
// backward: what module counts of optnet count, and what its lifetimes are lifetimes of.
#pragma once
#include <cstdint>
#include <vector>

#include "train/optnet/torch_net.h"

namespace lethe {

/// Whose modules run convolutions, poolings, ReLU, LRN and LogSoftMax: Torch's own on the CPU, or cudnn.torch. Both
/// take all other modules from nn.
enum class TorchBackend : std::uint8_t { Nn, Cudnn };

/// Whether a backend's module of that class is cudnn's.
bool is_cudnn(TorchBackend backend, TorchClass type);

/// Whether a module keeps a contiguous copy (`_gradOutput`) of a gradient of its output that is in pieces. cudnn's do,
/// and of nn's those that had makeContiguous; all others walk the pieces or copy them for the time of the call.
bool copies_pieces(TorchBackend backend, TorchClass type);

/// A tensor as its module shows it.
struct TorchTensor {
  int storage = -1;
  bool repointed = false;  // its module sets it to another's storage, or to a private copy, each time it runs
  bool in_pieces = false;  // of several images the part that a Concat's branch gave: not contiguous, as Torch has it
};

struct TorchStorages {
  std::vector<std::int64_t> elements;                // by storage
  int input = -1, loss_gradient = -1;                // the caller's
  std::vector<std::vector<TorchTensor>> output;      // by module; of a ConcatTable one a child
  std::vector<std::vector<TorchTensor>> grad_input;  // by module; of an AddTable and the like one an input
  std::vector<std::vector<TorchTensor>> grad_sums;   // by Graph: of gradients that several of its modules give
  std::vector<TorchTensor> grad_output;              // by module in a Graph
  std::vector<std::int64_t> slice_copy;              // by module: elements of its copy of a gradient that is in pieces

  /// Elements of the distinct storages that modules show, the caller's apart.
  std::int64_t outputs() const { return distinct({&output}); }
  std::int64_t grad_inputs() const { return distinct({&grad_input, &grad_sums}); }

 private:
  std::int64_t distinct(std::initializer_list<const std::vector<std::vector<TorchTensor>>*> shown) const;
};

/// With `inplace` each module that can works in place; without, all but a ReLU after a Linear, which the published
/// definitions left out of place. A Threshold never does: its value may lie above its threshold.
TorchStorages torch_storages(const Program& program, const TorchNet& net, TorchBackend backend, bool inplace);

}  // namespace lethe
