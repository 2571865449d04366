// A network as the tree of modules that Torch7 would run for it, read from a forward Program. optnet counts and shares
// what modules hold, so its figures are those of modules, not of ops. How they correspond:
//
//   program                              modules
//   conv2d, fc (bias included)           one SpatialConvolution, Linear
//   relu, threshold, dropout, batch_norm, max_pool, avg_pool, pad, lrn, log_softmax   one of that name
//   flatten, reshape (views)             View: its output is its input's storage
//   concat of n branches                 Concat with n children, each a Sequential (an empty branch: Identity)
//   add of n branches                    ConcatTable of them, then CAddTable
//   any other op on several branches     ConcatTable of them, then a module of its own
//   branches that share a layer          Graph (nngraph's gModule): a module for each op between fork and join
//   array_read                           View: SplitTable's output
//   array_write, array_add               ArrayWrite: the array is made by the first, as JoinTable makes it at the end
//   while, if                            written out (train/optnet/written_out.h): a module for each trip
//   loss, metrics, whatever follows the network's outputs   nothing: the criterion was not counted
//   what does not depend on the network's first input       nothing: constants, and what is fed beside it
//
// A branch runs from where the inputs of its join part for the last time (their nearest common dominator).
#pragma once
#include <string>
#include <vector>

#include "framework/builder/builder.h"

namespace lethe {

enum class TorchClass : std::uint8_t {
  Sequential,
  Concat,
  ConcatTable,
  Graph,
  Convolution,
  Linear,
  MaxPooling,
  AveragePooling,
  ReLU,
  Threshold,
  Dropout,
  BatchNormalization,
  AddTable,
  Normalization,  // across channels
  LogSoftMax,
  ArrayWrite,
  View,
  Identity,
  Other
};

struct TorchModule {
  TorchClass type = TorchClass::Sequential;
  int op = -1;                     // in block 0; -1 for containers and Identity
  std::vector<int> children = {};  // indices into TorchNet::modules; of a Graph in the order that they run in
  std::vector<VarId> in = {};      // activations it reads, parameters apart
  VarId out = kNone;               // kNone for a ConcatTable, which gives its children's outputs
};

struct TorchNet {
  std::vector<TorchModule> modules;
  int root = -1;  // a Sequential of the whole network
};

/// What a Torch definition of a network said and the program does not.
struct TorchNotes {
  /// Layers below these paths were a Sequential of their own: "classifier"; "stage1/*" is every path one step below.
  std::vector<std::string> sequentials = {};
  /// View gave a vector instead of a matrix of one row.
  bool view_drops_batch_of_one = false;
};

/// Whether Torch keeps a module's output in its input's storage, and its gradient of the input in the output's.
bool is_view(TorchClass type);

/// The modules between the network's first input and the last var that all its outputs come from. Take the network as
/// built for training, where dropout is a layer, and written out.
TorchNet torch_net(const Network& network, const TorchNotes& notes = {});

}  // namespace lethe
