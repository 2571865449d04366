// What optnet's countUsedMemory reports for a network, before and after its optimisation: bytes by what Torch7's
// modules held, from the module tree, to the byte of the published tables.
#pragma once
#include <string>
#include <vector>

#include "train/optnet/optnet.h"
#include "train/optnet/torch_storage.h"

namespace lethe {

/// Bytes of distinct storages in each category; a storage may be in two of them. Fed data, the loss's gradient and the
/// optimizer's state are in none.
struct OptnetBytes {
  std::int64_t outputs = 0, grad_inputs = 0, buffers = 0, params = 0;  // params: gradients of parameters included
  std::int64_t total() const { return outputs + grad_inputs + buffers + params; }
  bool operator==(const OptnetBytes&) const = default;
};

struct OptnetCount {
  OptnetBytes before, after;
  /// Of `after`: memory that stays a tensor's own though a group has a place for it.
  std::int64_t ghosts = 0;
  /// Of both: gradients counted as grad_inputs and as buffers, which are one storage.
  std::int64_t counted_twice = 0;
};

/// Torch's own modules for f64 and cudnn's for f32 are what the published tables have. All tensors are of the network's
/// dtype, as Torch had them; loops are written out.
OptnetCount optnet_count(const Network& network, const TorchNotes& notes, TorchBackend backend,
                         const OptnetOptions& options);

/// A tensor that modules keep beside output, gradient and parameters.
struct TorchBuffer {
  std::string field;  // as Torch's modules name it: modules share theirs by field
  int module = -1;
  std::int64_t elements = 0;
  bool shareable = false;  // by reuse_buffers
};

/// In the order of the modules. One more at the end with cudnn: what its workspace begins with, one element.
std::vector<TorchBuffer> torch_buffers(const Program& program, const TorchNet& net, const TorchStorages& storages,
                                       TorchBackend backend, bool training, const TorchNotes& notes);

}  // namespace lethe
