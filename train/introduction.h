// What `train` says of a run before its first step.
#pragma once
#include <string>
#include <vector>

#include "train/data/batches.h"
#include "train/options.h"
#include "train/report/progress.h"
#include "train/session/start.h"

namespace lethe {

/// `classes` are the data's. Fails (Exit::Data) if a resumed run would not stand where it stood.
void introduce(Progress& progress, const Options& options, const Network& network, const Batches& batches,
               const std::vector<std::string>& classes, const Start& start);

/// Says what a step takes if one waits long for it.
void warn_of_slow_steps(const Program& program, const Options& options, Progress& progress);

}  // namespace lethe
