// A TorchProgram while it is made; what its forward and its backward half have in common.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "train/optnet/torch_program.h"

namespace lethe {

struct TorchDraft {
  TorchDraft(const Network& network, const TorchNotes& notes, const TorchProgramOptions& options);

  /// Appends an op. Fails if it reads what nothing before it gives.
  void append(Op op);
  /// Fails because of a var that no module gives: what makes it does not depend on the network's input.
  [[noreturn]] void fail_of_constant(VarId var) const;
  /// Notes what a var is to Torch, unless that is known: an alias keeps its first meaning. Says whether it was noted.
  bool hold(VarId var, TorchHolds as, int storage = -1);
  /// A var that no op touches.
  void keep(const std::string& name, Shape shape, TorchHolds as, int storage = -1);
  /// The var in which our ops have a module's field.
  void set_field(int module, const char* field, VarId var) { fields[{module, field}] = var; }

  const Network& network;
  TorchProgramOptions options;
  TorchProgram made;
  std::vector<bool> given;                               // by VarId of the network: there before the next op
  std::vector<std::pair<std::size_t, std::size_t>> ops;  // by module: its ops, half-open
  std::pair<std::size_t, std::size_t> after = {};        // ops after the modules: the loss and metrics
  std::map<std::pair<int, std::string>, VarId> fields;   // by module and field
};

/// Appends what the modules run forward.
void lower_forward(TorchDraft& draft);
/// Appends what they run backward, from the loss if it is there, and fills in the gradients.
void lower_backward(TorchDraft& draft);

}  // namespace lethe
