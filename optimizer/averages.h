// Averages of weights over the steps of training (Polyak and Juditsky, 1992), as exponential moving averages: what is
// evaluated and handed on in place of the weights themselves.
#pragma once
#include <string>

#include "framework/builder/network.h"

namespace lethe {

/// The State that holds the average of a weight: "conv.weight@ema".
std::string average_of(const std::string& weight);

/// Appends to `training`, last of all, an op for each weight of `params` that one of its ops updates, parameter or
/// running statistic: average += (1 - decay) * (weight - average). Of a share of a parameter it averages that share.
/// `evaluation` reads these averages in place of the weights. A decay of 0 changes nothing; fails unless it is below 1.
void average_weights(Program& training, Program& evaluation, const std::vector<ParamInfo>& params, double decay);

}  // namespace lethe
