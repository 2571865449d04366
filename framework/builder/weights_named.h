// Which weights of a network patterns mean, in its own names or those of a library.
#pragma once
#include <set>
#include <string>

#include "framework/builder/network.h"

namespace lethe {

/// The vars of the weights that `patterns` (framework/name_pattern.h) mean. A pattern may mean a weight's own name, or
/// those that a library has for it (Network::weight_names), with or without that library's prefix. Fails for a pattern
/// that means none, for one that means only some of the tensors that make up a weight, and as patterns_given() does.
std::set<VarId> weights_named(const Network& network, const std::string& patterns, const std::string& setting);

}  // namespace lethe
