// How a random network is trained: layers and parameters frozen, in few bits or not, adapters beside them, others in
// bf16, and updates with states in 8 bits.
#pragma once
#include <cstdint>
#include <functional>

#include "framework/builder/network.h"
#include "optimizer/optimizer.h"

namespace lethe::testing {

/// What `make` gives; for a third of the seeds again with some of its layers, and single parameters, frozen, but for
/// one parameter at least that leads to the loss. For a third, if not of f64, most parameters that are trained are
/// bf16.
Network trained_at_random(std::uint64_t seed, const BuildOptions& options,
                          const std::function<Network(const BuildOptions&)>& make);
/// Any optimizer; for half of the seeds, if it takes them, with states in 8 bits, also of small parameters.
OptimizerSettings random_rule(std::uint64_t seed);

}  // namespace lethe::testing
