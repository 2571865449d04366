// The "config" of a network file: for which models of Hugging Face it is, and what a config.json of these says of its
// vars.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "models/json_source.h"

namespace lethe {

/// How the names of families, and of libraries of weights, begin that are for GGUF files, of which the keys stand for
/// those of a config.json; the architecture's follows.
inline constexpr std::string_view kGgufFamily = "gguf_";

/// What one kind of config.json says. The nodes are of the network file, or of what every family has.
struct ConfigFamily {
  using Entries = std::vector<std::pair<std::string, JsonNode>>;

  std::string name;                           // the config.json's "model_type", or else its "architecture"
  std::string variant = {};                   // of the network file; "" for none
  Entries sets = {};                          // vars that no key says, and what they are
  Entries keys = {};                          // paths of keys ("rope_parameters.rope_theta") and what they are for
  std::vector<std::string> passed_over = {};  // patterns of paths of keys that change nothing here
};

/// The families of a network file, each with what it takes over; none without a "config". Fails at what is wrong in
/// the file.
std::vector<ConfigFamily> config_families(const JsonNode& document);

}  // namespace lethe
