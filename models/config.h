// From a config.json of Hugging Face's transformers (or timm) to a network of the zoo and its vars, by the "config" of
// network files (docs/reference/network-format.md).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "models/json_source.h"
#include "models/network.h"

namespace lethe {

/// A var that must not be above what the config.json says.
struct ConfigBound {
  std::string var, key;  // the key that says so
  std::int64_t most = 0;
  std::string table = {};  // the var for the rows of a table of positions, which has as many as `var` by default
};

/// The network that a config.json is of.
struct ConfiguredNetwork {
  std::string model = {};   // a name of the zoo
  std::string family = {};  // "gpt2": what the config.json calls it
  Sets sets = {};           // vars
  std::vector<ConfigBound> bounds = {};
  std::vector<std::string> classes = {};  // what the labels of its head are called; none: nobody has named them
};

/// Reads a config.json. Fails (Exit::Data), naming the place, if no network file is for it, if it says what the network
/// would not honour, if it has a key that the network file does not know, or lacks one that is needed. A key that is
/// null counts as absent.
ConfiguredNetwork read_config(const std::string& file);
/// The same of what stands for one; `file` is what messages call it, without lines.
ConfiguredNetwork read_config(const std::string& file, const Json& config);

}  // namespace lethe
