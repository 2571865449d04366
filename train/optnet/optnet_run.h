// optnet's memory: the program of Torch's modules, in the memory that optnet gave them.
#pragma once
#include "train/session/settings.h"

namespace lethe {

/// The network as built for training, lowered to train by its loss or to be evaluated with it. Modules are Torch's own
/// for f64, cudnn's for f32, as in the published tables.
TorchProgram optnet_program(const OptnetOptions& optnet, const NetworkSetting& setting, const Network& network);
/// `program`: that of `torch`, with whatever was appended to it.
Planned plan_optnet_run(const OptnetOptions& optnet, TorchProgram torch, const Program& program, Prepared& prepared);

}  // namespace lethe
