// Where network files are found by name.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace lethe {

/// A file, and which of its variants is meant ("resnet20" of resnet_cifar.json); "" for none.
struct ZooEntry {
  std::string file, variant;
};

/// Stands between a file and the variant that is meant: "my.json#small".
inline constexpr char kVariantMark = '#';

/// The file that a name or path means (see load_network); fails with a suggestion and the names there are.
ZooEntry find_model(const std::string& name_or_file);

/// The network files that names of the zoo mean, and those names, in the order in which directories are looked at.
std::vector<std::pair<std::string, std::string>> zoo_files();

}  // namespace lethe
