// Vars from the tensors of a file, by the names that these have there.
#pragma once
#include <string>
#include <vector>

#include "framework/run/store.h"
#include "train/session/stored_tensor.h"
#include "train/session/tensor_reader.h"

namespace lethe {

/// Says which tensors of a file are read, and under which names.
struct Reading {
  std::vector<StoredTensor> all = {}, again = {};  // again: what may stand there twice, under another name
  std::string prefix = {};                         // which any name may have in the file
  std::vector<std::string> passed_over = {};       // patterns of names that nobody reads
  bool converts = false;                           // floats of another type
  Infinite infinite = Infinite::Refused;           // values

  const TensorEntry* find(const TensorReader& reader, const std::string& name) const {
    const TensorEntry* const found = reader.find(name);
    return found || prefix.empty() ? found : reader.find(prefix + name);
  }
};

/// Reads them into the store. Missing, unexpected and mis-shaped tensors, and what stands twice with different values,
/// are Exit::Data in one line, and then the store is as it was. A value that is no number is Exit::Data by its tensor's
/// name, and then the tensors before it are in the store.
void load_tensors(TensorReader& reader, Store& store, const Reading& reading);

}  // namespace lethe
