// Every option decided: from the command line, a run that goes on, the network file, or as built in.
#pragma once
#include <optional>

#include "train/options.h"
#include "train/session/run_state.h"

namespace lethe {

/// The options with nothing left open that the command needs: from the command line, else from `resumed` (the values of
/// the run that goes on), else from the network file's train settings, else built-in. Settings that belong to an
/// optimizer do not outlive a change of the optimizer. Which data is built-in depends on the network: open_data().
Options decided(const Options& given, const OptionValues& resumed = {});
/// What a run that goes on must find again.
OptionValues values_to_keep(const Options& options);
/// Decided for a command that takes weights: what the command line leaves open of network, data, numbers, batch and
/// seed is that of the run. Fails unless one of the two names a network.
Options decided_by_run(const Options& given, const std::optional<RunState>& run);

}  // namespace lethe
