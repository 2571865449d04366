// Which weights a network begins with.
#pragma once
#include <string>

namespace lethe {

struct WeightsSetting {
  std::string path = {};    // a file, or a directory of checkpoints; "": none
  std::string fresh = {};   // patterns of weights that may be missing there or of another shape: they are made anew
  std::string ignore = {};  // patterns of tensors that are taken as if they were not there
  bool save_frozen = true;  // checkpoints hold frozen weights; else they name the file from which these came
};

}  // namespace lethe
