// The memory stage: decides where every byte lives, before the first step. Read me first.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "framework/prepared.h"
#include "memopt/options.h"
#include "memopt/passes/arena.h"

namespace lethe {

struct Planned {
  Program program;  // as it will run
  Plan plan;
  Liveness live = {};  // of the program
  Sharing sharing = {};
  Workspaces workspaces = {};            // of the program
  std::optional<ArenaFacts> arena = {};  // of level 2
  std::vector<std::string> notes = {};   // what was asked for and could not be done
  std::vector<std::string> log = {};     // every decision, if asked for
  // Spent on kernels, those made that were not there yet; on liveness; on everything but kernels.
  double kernels_ms = 0, liveness_ms = 0, plan_ms = 0;
};

Planned plan_memory(Program program, Prepared& prepared, const MemoptOptions& options);

/// What `--memopt none` takes, with all else as it is asked for.
Plan plan_unshared(Program program, Prepared& prepared, const MemoptOptions& options);

}  // namespace lethe
