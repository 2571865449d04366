// Every option decided: from the command line, a run that goes on, the network file, or as built in.
#pragma once
#include "train/options.h"

namespace lethe {

/// The options with nothing left open that the command needs: from the command line, else from `resumed` (the values of
/// the run that goes on), else from the network file's train settings, else built-in. Settings that belong to an
/// optimizer do not outlive a change of the optimizer. Which data is built-in depends on the network: open_data().
Options decided(const Options& given, const OptionValues& resumed = {});
/// Decided options decided once more, with `value` for one. Forgets what was set in them since.
Options decided_with(const Options& options, const std::string& name, const std::string& value);
/// Decided for measurements of time: where no data is named it is random, which takes no time to make, if there is
/// such.
Options decided_for_timing(const Options& given);
/// What a run that goes on must find again, also from another directory.
OptionValues values_to_keep(const Options& options);

}  // namespace lethe
