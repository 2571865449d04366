// Gradients that are made twice: first for what is taken of all of them, which is their norm, and then for the updates.
// So no gradient has to wait for the others.
#pragma once
#include <string>

#include "framework/language/program.h"

namespace lethe {

/// Why a program cannot have that, as a sentence; "" if it can.
std::string why_no_two_passes(const Program& program);

/// The op that reads all gradients (AllGradients) reads their digests instead, and after it stands a copy of the ops
/// that lead from the forward part to the gradients, by which parameters are then updated. Both read the same values of
/// the forward part, so bits stay the same. Vars keep their ids; those of the copy come after them, and their names end
/// in "@PASS2". Fails where why_no_two_passes() says so.
Program two_passes(Program program);

}  // namespace lethe
