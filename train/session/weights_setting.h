// Which weights a network begins with.
#pragma once
#include <optional>
#include <string>

namespace lethe {

struct WeightsSetting {
  std::string path = {};     // a file, or a directory of checkpoints; "": none
  std::string fresh = {};    // patterns of weights that may be missing there or of another shape: they are made anew
  std::string ignore = {};   // patterns of tensors that are taken as if they were not there
  std::string adapter = {};  // a folder of adapters to begin with (adapter_files.h); "": none
  /// Checkpoints hold frozen weights; else they name the file from which these came. Not said: a network with adapters
  /// has checkpoints without them, as far as a file has them.
  std::optional<bool> save_frozen = {};
};

}  // namespace lethe
