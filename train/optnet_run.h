// `--memopt optnet=...`: the program of Torch's modules, in the memory that optnet gave them.
#pragma once
#include "memopt/memopt.h"
#include "memopt/optnet/optnet_plan.h"
#include "train/options.h"

namespace lethe {

/// Whether a `--memopt` setting is one of optnet's.
bool asks_for_optnet(const std::string& memopt);
/// What it asks for. Fails on what optnet does not know.
OptnetOptions optnet_options(const std::string& memopt);

/// The network as built for training, lowered to train by its loss or to be evaluated with it. Modules are Torch's own
/// for f64, cudnn's for f32, as in the published tables.
TorchProgram optnet_program(const Options& options, const Network& network);
/// `program`: that of `torch`, with whatever was appended to it.
Planned plan_optnet_run(const Options& options, TorchProgram torch, const Program& program, Prepared& prepared);

}  // namespace lethe
