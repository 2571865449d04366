// A program rewritten so that it runs forward values' ops once more where a search decided so.
#pragma once
#include "memopt/recompute/replay.h"

namespace lethe {

/// The program that runs these steps: copies of forward ops, role Backward, of vars that end in "@AGAIN".
Program repeated(const Program& program, const Tape& tape, const std::vector<Step>& steps);

}  // namespace lethe
