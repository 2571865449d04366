// Numbers that are made, for networks that compare with numbers.
#pragma once
#include <cstdint>
#include <memory>

#include "train/data/data_spec.h"
#include "train/data/named_samples.h"

namespace lethe {

/// Inputs between -1 and 1, and for each number of the target the hyperbolic tangent of a weighted sum of all of them;
/// of bce 1 where that is above 0, else 0. A sample is a function of (seed, split, index). Fails with Exit::Usage for a
/// network that takes anything but floats.
std::unique_ptr<NamedSamples> make_numbers(const DataSpec& spec, const Network& network, const FedInputs& fed,
                                           std::uint64_t seed);

}  // namespace lethe
