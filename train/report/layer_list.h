// The layers that network files may name, for people.
#pragma once
#include <string>
#include <vector>

namespace lethe {

/// What a layer is called, takes and does, and each of its keys with values, default, bounds and meaning; all layers
/// for an empty name. Fails with a suggestion for a name that no layer has.
std::string layer_list(const std::string& name);
/// The names of all layers, without their other names.
std::vector<std::string> layer_names();

}  // namespace lethe
