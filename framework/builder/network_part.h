// A part of a network: what one of its values follows from.
#pragma once
#include <vector>

#include "framework/builder/network.h"

namespace lethe {

/// Which ops of the program's first block the vars follow from; one with blocks of its own counts as such.
std::vector<bool> needed_for(const Program& program, const std::vector<VarId>& vars);

/// The network that gives its embedding, its only output, and computes nothing else: without a loss, and without the
/// parameters of what follows, which a file of weights may have or not. Fails if it has no embedding.
Network embedding_of(const Network& network);

}  // namespace lethe
