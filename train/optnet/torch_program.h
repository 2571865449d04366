// A network as Torch7 ran it: the Program of its modules, in their order, with a var for everything that they held.
// What our ops do without but Torch kept - ones that spread a bias, gradients that inference never dropped - stands in
// it as vars that no op touches.
#pragma once
#include <vector>

#include "framework/autodiff/autodiff.h"
#include "train/optnet/optnet_count.h"

namespace lethe {

/// As what optnet's counter met a var.
enum class TorchHolds : std::uint8_t {
  Nothing,  // fed, or scratch of our ops alone
  Output,
  GradInput,
  Buffer,
  Param  // parameters and their gradients
};

struct TorchVar {
  TorchHolds as = TorchHolds::Nothing;
  int storage = -1;  // Output, GradInput: index into TorchStorages::elements; Buffer: into buffers; else -1
};

struct TorchProgram {
  Program program;             // a var of the network has its id here too, whether an op touches it or not
  std::vector<TorchVar> vars;  // by VarId; of a view: what it shows
  TorchNet net;
  TorchStorages storages;
  std::vector<TorchBuffer> buffers;
  VarId input = kNone, output = kNone;
  VarId output_gradient = kNone;  // training: fed, unless it comes from the loss
  std::vector<ParamGrad> grads;   // training
  std::vector<VarId> fetched;     // output and gradients, and with a loss what is read of it: there after each step
};

struct TorchProgramOptions {
  TorchBackend backend = TorchBackend::Cudnn;
  bool training = false;
  bool inplace = true;      // as optnet's option
  bool keep_grads = false;  // inference: gradients of parameters are still there
  bool loss = false;        // with the network's loss and metrics; training goes by it
};

/// Inference (dropout is a copy, batch norm reads running statistics), or a forward and a backward pass from a gradient
/// of the output. Convolutions of Torch's own modules multiply an unfolded image, poolings keep indices of the
/// element type; cudnn's have neither. Take the network as built for training.
TorchProgram torch_program(const Network& network, const TorchNotes& notes, const TorchProgramOptions& options);

}  // namespace lethe
