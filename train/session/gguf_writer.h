// Writes GGUF files (train/data/gguf_file.h), tensor by tensor.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "train/data/gguf_file.h"
#include "train/session/tensor_file.h"

namespace lethe {

class GgufWriter : public TensorWriter {
 public:
  /// Entries are written as they are given; none may be `general.alignment`, which is the format's own. Fails
  /// (Exit::Data) for a tensor of a dtype or shape that the format does not have, naming it.
  GgufWriter(const std::string& file, const std::vector<GgufEntry>& entries, std::vector<TensorEntry> tensors);
};

}  // namespace lethe
