// Holds a plan against the program, without asking how it was made: it runs the program over bytes that hold the
// names of values instead of numbers, both sides of each branch, loops until nothing new comes of another trip. Nothing
// here is shared with what plans: no lives, no pins, no storages; only what was asked for is told by the same words.
#pragma once
#include "framework/run/plan.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// Fails, naming the vars, if
///  - something that is used has no memory, or memory that is not aligned, leaves its buffer, or has been given back;
///  - an op reads a value some of whose bytes may have been written by others since;
///  - an output lies over an input of its op, unless the op declares the pair and reads these bytes through that input
///    alone; or outputs and workspace of an op lie over each other or over what it reads;
///  - a view is not where what it shows is;
///  - a value that is wanted at the end of the step is not there any more: what is fed, what `wanted` asks for, and all
///    that the plan says it keeps; or what has been copied aside for the next step;
///  - something is read or written where an exchange of ranks is under way, or one is waited for nowhere or twice;
///  - the plan's sum of bytes is not what its buffers take at most.
void check_plan(const Program& program, const PinOptions& wanted, const Plan& plan, const Workspaces& workspaces);

}  // namespace lethe
