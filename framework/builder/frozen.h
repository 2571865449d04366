// Which parameters of a network training leaves as they are.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "framework/builder/network.h"

namespace lethe {

/// As the user says it: patterns of names (weights_named.h), of what is frozen or of all that is not; "" says nothing.
struct FrozenSetting {
  std::string freeze = {}, train_only = {};
  std::string types = {};  // "nf4-dq", or by patterns: "tokens.*=q8_0,*=nf4-dq"; of several the first counts
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

/// For BuildOptions::frozen_dtypes: what `types` says of the frozen parameters of two axes or more. Fails for a pattern
/// other than `*` that means none of these where anything is frozen, and for a parameter that cannot be in such blocks.
std::map<std::string, DType> frozen_dtypes(const Network& network, const std::string& types,
                                           const std::set<std::string>& frozen);
/// An item of FrozenSetting::types; `pattern` is `*` where it has none. "PATTERN=TYPE?" may mean trained ones alone.
struct FrozenType {
  std::string pattern, type;
  bool may_be_trained = false;
};
std::vector<FrozenType> frozen_types(const std::string& text);
/// The type of users for what a file has: whoever takes options puts the file's types in its place.
inline constexpr const char* kStoredType = "stored";
/// Why a text is none of FrozenSetting::types; "" if it is one.
std::string complaint_about_frozen_types(const std::string& text);

/// The names of Network::frozen, sorted.
std::vector<std::string> frozen_params(const Network& network);

}  // namespace lethe
