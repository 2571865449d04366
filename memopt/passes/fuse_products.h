// What a product of backward does on its way: the sums that are the gradient of a bias, and the derivative of an
// activation. Each saves passes over memory. Unlike what other passes fuse this changes bits, so on a GPU it is done
// first, in the order that autodiff gave, and then nothing of the memory stage decides on it.
#pragma once
#include "framework/language/program.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// Fusion::Sums: `c = product(dy, x); b = sums(dy)` becomes `c, b = product(dy, x)`, where nothing between them writes
/// dy. Fusion::Derivative: `h = product(..); g = derivative(x, h)` becomes `h = product(.., x)`, of which g is a view,
/// where h, seen through views, has no other reader and is not fetched, and x is there in time. What kept the gradient
/// of gelu's output then keeps that of its input, also if `skip_vars` names it.
Program fuse_products(Program program, const std::vector<Pin>& pins);

}  // namespace lethe
