// The memory stage: decides where every byte lives, before the first step. Read me first.
#pragma once
#include <string>

#include "framework/plan.h"
#include "framework/prepared.h"
#include "framework/program.h"

namespace lethe {

/// What `--memopt` asks for.
struct MemoptOptions {
  bool operator==(const MemoptOptions&) const = default;
};

/// Reads `none`, for now the only plan: a buffer for each var, held to the end of the step. Fails with what is known.
MemoptOptions parse_memopt(const std::string& text);

struct Planned {
  Program program;
  Plan plan;
};

/// The program as it will run, and its plan.
Planned plan_memory(Program program, Prepared& prepared, const MemoptOptions& options);

}  // namespace lethe
