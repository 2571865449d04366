// Labels of samples that are mixed with each other: a loss compares with two of them.
#pragma once
#include <string>

#include "framework/builder/network.h"

namespace lethe {

/// The inputs beside a target [N] of mixed samples: the other's label, as the target, and the share [N] that the
/// sample's own has, f32.
std::string other_target(const std::string& target);
std::string share_of_target(const std::string& target);

/// Lets each loss that reads the target be share * loss(own label) + (1 - share) * loss(other label), of two inputs
/// more. Accuracy counts own labels. Fails unless the labels are read by cross_entropy losses alone, one a sample.
void mix_targets(Network& network);

}  // namespace lethe
