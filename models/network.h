// Networks from files (docs/reference/network-format.md) and from the zoo beside this header.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "framework/builder/builder.h"

namespace lethe {

/// Values for a file's `vars` by name, as the command line has them: {"n", "3"}, {"bn", "false"}.
using Sets = std::map<std::string, std::string>;
struct TrainDefault {
  std::string value;  // as the command line has it
  std::string where;  // "FILE:LINE:COLUMN" of the value
};
/// Training settings by the names of the command line's options ('_' for '-'): {"lr", "0.1"}, {"batch", "128"}.
using TrainDefaults = std::map<std::string, TrainDefault>;

/// A network file as it was read, for whoever builds of it what belongs together, and for whoever keeps it.
struct NetworkFile {
  std::string name = {};     // without a directory
  std::string variant = {};  // that was meant; "" for none
  std::string text = {};
  std::string path = {};  // for messages
  bool operator==(const NetworkFile&) const = default;
};
/// Reads the file that is meant (load_network); fails if there is none.
NetworkFile read_network_file(const std::string& name_or_file);
/// The name by which load_network() finds that file's variant in a directory.
std::string name_in(const std::string& directory, const NetworkFile& file);

/// Builds the forward Program of a file or of a zoo network. A name that ends in ".json" or is a file's is a file, of
/// which "FILE.json#VARIANT" means a variant; any other is looked for in the directories of $LETHE_MODELS (separated by
/// ':'), in the source tree and where `install` puts the zoo. Throws an Error of one line; for what is wrong in the
/// file "FILE:LINE:COLUMN: LAYER PATH: what".
Network load_network(const std::string& name_or_file, const BuildOptions& options, const Sets& overrides = {});
/// The same of one that was read, whatever has become of it since.
Network load_network(const NetworkFile& file, const BuildOptions& options, const Sets& overrides = {});

/// What the file's "train" says, so that the network learns when nothing else is said.
TrainDefaults train_defaults(const NetworkFile& file, const Sets& overrides = {});
TrainDefaults train_defaults(const std::string& name_or_file, const Sets& overrides = {});

/// The var by which files of networks of sequences say how many symbols these read at once.
inline constexpr const char* kContextVar = "length";
/// Whether the file has such a var, which `overrides` may set.
bool has_var(const NetworkFile& file, const std::string& var);

/// Networks are looked for in this directory, too, after those of $LETHE_MODELS: of whoever ships the zoo elsewhere.
void look_for_models_in(const std::string& directory);
/// The names of the zoo, sorted: "char_gpt", "lenet", "resnet20"...
std::vector<std::string> zoo_names();

/// The JSON Schema (draft-07) of network files, made from the layer records; ends in a newline.
std::string network_schema();

}  // namespace lethe
