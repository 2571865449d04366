// The lines before a run's first step.
#pragma once
#include "train/programs.h"
#include "train/report/progress.h"

namespace lethe {

/// What the memory stage logged and could not do, then what the run will take, as `train/report/memory_report.h` words
/// it.
void print_predicted(const Options& options, const Plans& plans, Progress& progress);

}  // namespace lethe
