// Where a run starts: anew, from given weights, or from a checkpoint.
#pragma once
#include <optional>
#include <string>

#include "train/options.h"
#include "train/session/checkpoint.h"

namespace lethe {

struct Start {
  std::string checkpoint = {};  // "" if the run starts anew
  RunState state = {};          // of the checkpoint
  std::string save = {};        // where this run saves; "" nowhere
  bool moves = false;           // whether that is another directory than the checkpoint's run has
};

/// Finds the checkpoint that `--resume` names. A resumed run goes on saving where it was, unless told otherwise. Fails
/// if a new run would write into the directory of another.
Start find_start(const Options& given);

/// Fails if the options contradict the checkpoint's batch, seed, dtype or network.
void check_fits(const Start& start, const Options& options, const Network& network);

/// Initial values of all parameters, or those of the checkpoint or of `--weights`.
void fill_store(const Start& start, const Options& options, const Network& network, Store& store);
/// The run that saved the weights which `--weights` means: what stands beside them. None if nothing does, or without
/// weights. Fails (Exit::Data) if there are no weights there.
std::optional<RunState> run_of_weights(const std::string& path);
/// Decided for a command that takes weights: what the command line leaves open of network, data, numbers, batch and
/// seed is that of the run. Fails unless one of the two names a network.
Options decided_by_run(const Options& given, const std::optional<RunState>& run);
/// The weights file that `--weights` means: the file itself, or the best or else the newest of a checkpoint directory.
std::string weights_file(const std::string& path);

}  // namespace lethe
