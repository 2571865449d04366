// The two programs of a run: training with its backward and update ops, and evaluation; over one store.
#pragma once
#include "framework/builder.h"
#include "memopt/memopt.h"
#include "train/dataset.h"
#include "train/options.h"

namespace lethe {

struct Programs {
  Network network;              // of training: the forward part
  Program training;             // all of it
  VarId learning_rate = kNone;  // fed each step of training
  Network evaluation;
};

/// Builds both. Fails unless the network has a loss.
Programs build_programs(const Options& options);
/// The forward part alone.
Network build_network(const Options& options, bool training);

/// Both as they will run, and where every byte of them will live.
struct Plans {
  Planned training, evaluation;
  Bytes bytes;  // together: params and states are the same, all else is added
};
/// Without `evaluated` nothing is planned for evaluation.
Plans plan_programs(const Programs& programs, bool evaluated, const std::string& memopt, Prepared& prepared);

/// The input that images are fed into. Fails unless the network has just that one beside its labels.
VarId image_input(const Network& network);
/// The data set of the options, in the size the network takes and with as many classes as its loss tells apart.
std::unique_ptr<Dataset> open_data(const Options& options, const Network& network, const Notify& notify);

}  // namespace lethe
