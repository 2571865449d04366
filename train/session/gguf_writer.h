// Writes GGUF files (train/data/gguf_file.h), tensor by tensor.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "train/data/gguf_file.h"
#include "train/session/atomic_file.h"
#include "train/session/tensor_reader.h"

namespace lethe {

/// Replaces the file as a whole at finish(); without it the old one stays.
class GgufWriter {
 public:
  /// Entries are written as they are given; none may be `general.alignment`, which is the format's own. Fails
  /// (Exit::Data) for a tensor of a dtype or shape that the format does not have, naming it.
  GgufWriter(const std::string& file, const std::vector<GgufEntry>& entries, std::vector<TensorEntry> tensors);
  /// The data of the next tensor, in the order given above: what a var of its dtype and shape has in memory.
  void write(const std::vector<std::byte>& data);
  /// All tensors must have been written. Gives the file's CRC-32.
  std::uint32_t finish();

 private:
  void put(const void* data, std::int64_t bytes);

  AtomicFile out_;
  std::uint32_t checksum_ = 0;
  std::vector<TensorEntry> tensors_;
  std::size_t next_ = 0;
};

}  // namespace lethe
