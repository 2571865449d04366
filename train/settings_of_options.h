// What the decided options ask of a session: the only place that turns the one into the other.
#pragma once
#include "train/options.h"
#include "train/session/settings.h"

namespace lethe {

Sets sets_of(const Options& options);
NetworkSetting network_setting(const Options& options);
OptimizerSettings optimizer_of(const Options& options);
ProgramSetting program_setting(const Options& options);
DataSetting data_setting(const Options& options);
RunSetting run_setting(const Options& options);

/// Whether training with these options stops to evaluate.
bool is_evaluated(const Options& options);

}  // namespace lethe
