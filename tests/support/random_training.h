// What of a random network is trained: layers and parameters frozen, in few bits or not, and adapters beside them.
#pragma once
#include <cstdint>
#include <functional>

#include "framework/builder/network.h"

namespace lethe::testing {

/// What `make` gives; for a third of the seeds again with some of its layers, and single parameters, frozen, but for
/// one parameter at least that leads to the loss.
Network with_some_frozen(std::uint64_t seed, const BuildOptions& options,
                         const std::function<Network(const BuildOptions&)>& make);

}  // namespace lethe::testing
