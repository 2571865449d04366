// The tensors of a GGUF file (train/data/gguf_file.h). Numbers in blocks are read as they are: the bytes of a tensor
// are those that a var of its dtype and shape has in memory.
#pragma once
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "train/session/tensor_reader.h"

namespace lethe {

class GgufReader final : public TensorReader {
 public:
  /// Its tensors are in the order of their data. Fails as read_gguf_header() does.
  explicit GgufReader(const std::string& file);
  /// "gguf_llama" of a file of the architecture "llama"; "" of a file that says none.
  std::string library() const override { return library_; }
  std::vector<std::byte> read(const TensorEntry& tensor) override;

 private:
  std::ifstream in_;
  std::int64_t data_begin_ = 0;
  std::string library_ = {};
};

}  // namespace lethe
