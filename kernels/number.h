// What a dtype makes of a number: settings are doubles, and an op on whole numbers takes only whole ones that fit.
#pragma once
#include "framework/language/program.h"

namespace lethe {

/// Whether the dtype has `value`; floats round and so have them all. Fails for a dtype that is not computed in.
bool holds(DType dtype, double value);
/// `value` as a number of that dtype, which `holds` it: what a kernel compares with numbers that stand in memory.
double nearest(DType dtype, double value);

}  // namespace lethe
