// An op whose gradient computes most of its work again, such as products that are too large to keep, and an op that
// does both at once for the price of the gradient: training runs that one.
#pragma once
#include <vector>

#include "framework/autodiff/autodiff.h"

namespace lethe {

/// In block 0, for each gradient op with OpDef::joined whose last input the forward op made: the joined op takes its
/// place, with the forward op's inputs and what else the gradient op reads but its last input, and gives the outputs of
/// the forward op and after them its own. The forward op is gone; what follows from its outputs, such as the mean of
/// losses, stands after the joined op, with role Optimize. Nothing is done where the gradient itself follows from them
/// (through a loss that is no sum), or where what follows from them reads or changes what is written in place.
void join_gradients(Program& program, std::vector<ParamGrad>& gradients);

}  // namespace lethe
