// Which parameters of a network training leaves as they are.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "framework/builder/network.h"

namespace lethe {

/// As the user says it: patterns of names (weights_named.h), of what is frozen or of all that is not; "" says nothing.
struct FrozenSetting {
  std::string freeze = {}, train_only = {};
  std::optional<DType> dtype = {};  // BuildOptions::frozen_dtype
  bool any() const { return !freeze.empty() || !train_only.empty(); }
};

/// The names for BuildOptions::frozen. Running statistics are among them if a pattern of `freeze` means them; with
/// `train_only`, if their layer has no parameters and no pattern means them. (Those of a batch norm whose weight and
/// bias are frozen need no name: the Builder freezes them.) Fails for a pattern that means nothing, for both settings
/// at once, and if no parameter is left to train.
std::set<std::string> frozen_names(const Network& network, const FrozenSetting& setting);

/// The same of all weights but these; running statistics go with their layer's parameters.
std::set<std::string> frozen_but(const Network& network, const std::set<VarId>& trained);

/// Weights that training leaves as they are: the frozen parameters, and running statistics that no op updates.
std::set<VarId> still_weights(const Network& network);

/// The names of Network::frozen, sorted.
std::vector<std::string> frozen_params(const Network& network);

}  // namespace lethe
