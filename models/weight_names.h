// The "weights" of a network file: how others call its parameters.
#pragma once
#include <vector>

#include "framework/builder/network.h"
#include "models/expression.h"
#include "models/json_source.h"

namespace lethe {

/// For each library that `weights` names, whose patterns are filled in for the network's weights. Fails at an entry
/// that is for none of them, and unless each of them has one.
std::vector<WeightNames> read_weight_names(const JsonNode& weights, const Bindings& vars, const Network& network);

}  // namespace lethe
