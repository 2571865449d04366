// Vars from the tensors of a file, by the names that these have there.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "framework/builder/network.h"
#include "framework/run/store.h"
#include "train/session/stored_tensor.h"
#include "train/session/tensor_reader.h"

namespace lethe {

/// Says which tensors of a file are read, and under which names.
struct Reading {
  std::vector<StoredTensor> all = {}, again = {};  // again: what may stand there twice, under another name
  std::string prefix = {};                         // which any name may have in the file, or lack there
  std::vector<std::string> passed_over = {};       // patterns of names that nobody reads
  bool converts = false;                           // floats of another type
  Infinite infinite = Infinite::Refused;           // values
  std::set<std::string> fresh = {};                // vars that stay as they are where the file does not have their like
  std::set<std::string> ignored = {};              // tensors that are taken as if they were not there
  bool advises = false;                            // messages name the settings that allow for what is wrong
  bool of_part = false;                            // the file has other tensors, too
  std::map<std::string, std::string> rounded = {};  // dtypes in which vars were before, by name

  const TensorEntry* find(const TensorReader& reader, const std::string& name) const {
    const auto there = [&](const std::string& by) { return ignored.contains(by) ? nullptr : reader.find(by); };
    const TensorEntry* const found = there(name);
    return found || prefix.empty() ? found : there(prefix_turned(name, prefix));
  }
};

/// Those that the patterns mean, with or without a library's prefix before them: for Reading::ignored. Fails for a
/// pattern that means none.
std::set<std::string> tensors_named(const std::string& patterns, const TensorReader& reader, const Network& network);

/// Whether the tensors' blocks, one after another, are those of the var in this dtype.
bool are_its_blocks(const TensorReader& reader, const Reading& reading, const StoredTensor& stored, DType dtype);

struct Loaded {
  std::vector<std::string> lines = {};  // for the user: what was left as it is, and which dtypes were converted
  std::set<std::string> anew = {};      // vars that were left as they are
};

/// Reads them into the store. Missing, unexpected and mis-shaped tensors, and what stands twice with different values,
/// are Exit::Data in one line, and then the store is as it was. A value that is no number is Exit::Data by its tensor's
/// name, and then the tensors before it are in the store.
Loaded load_tensors(TensorReader& reader, Store& store, const Reading& reading);

}  // namespace lethe
