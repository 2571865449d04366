// What check_plan says of a program without blocks, by comparing every write with every read: slow and plainly right.
#pragma once
#include "framework/run/plan.h"

namespace lethe::testing {

/// Whether something is read after something else was written over a byte of it, an op writes over an input without
/// declaring that it may, or two of its outputs share a byte.
bool all_pairs_find_fault(const Program& program, const Plan& plan);

}  // namespace lethe::testing
