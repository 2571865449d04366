// What a config of some family would say of a network: read_config() turned around.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "models/json_source.h"
#include "models/network.h"

namespace lethe {

using ConfigValues = std::vector<std::pair<std::string, Json>>;  // "llama.block_count" and its value

/// The keys of the family in the network's file that vars answer to, as far as the vars say otherwise than nothing.
/// Fails if read_config() of these would give other vars, naming the first: a var that is for training alone (dropout)
/// or bounded by a key (the window) may differ. Fails as well if the file has no such family, naming those it has.
ConfigValues written_config(const NetworkFile& file, const Sets& sets, const std::string& family);

/// Puts a value at "llama.attention.head_count", of which each part is an object in the one before. Fails where another
/// value stands.
void put_at(Json& config, const std::string& path, const Json& value);

}  // namespace lethe
