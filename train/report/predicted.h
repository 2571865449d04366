// The lines before a run's first step.
#pragma once
#include "train/report/progress.h"
#include "train/session/programs.h"

namespace lethe {

/// What the memory stage logged, to standard output.
void print_log(const Planned& planned);
/// What the memory stage logged and could not do, then what the run will take, as `train/report/memory_report.h` words
/// it.
void print_predicted(const std::string& memopt, const Plans& plans, Progress& progress);

}  // namespace lethe
