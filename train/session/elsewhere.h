// Frozen weights that a checkpoint does not hold, since a file has them: that from which they came.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "framework/builder/network.h"

namespace lethe {

struct WeightsElsewhere {
  std::vector<std::string> files = {};   // that file, by its absolute path; then those of which it is an index
  std::vector<std::string> sha256 = {};  // of each
  std::string ignore = {};               // WeightsSetting::ignore, by which it was read
  std::map<std::string, std::string> weights = {};  // which, by name, and in which dtype the run has them
  bool operator==(const WeightsElsewhere&) const = default;
};

/// The names of them all.
std::set<std::string> names_of(const std::vector<WeightsElsewhere>& elsewhere);

/// Those of what a run has read that its training leaves as they were read. Files without a SHA-256 get theirs.
std::vector<WeightsElsewhere> left_as_read(std::vector<WeightsElsewhere> read, const Network& network);

/// Fails (Exit::Data), naming the file and `checkpoint`, which relies on it, unless each is there and as it was, and
/// the network, or a whole of which it is a part, has the weights.
void check_as_read(const WeightsElsewhere& elsewhere, const std::string& checkpoint, const Network& network);

}  // namespace lethe
