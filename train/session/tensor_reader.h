// Named tensors that are read one by one, from a file or from several.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "framework/error.h"
#include "framework/program.h"

namespace lethe {

struct TensorEntry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape = {};
  std::int64_t begin = 0;  // bytes into the data; set by reader and writer
  std::int64_t bytes() const { return elements(shape) * bytes_of(dtype); }
};

/// "f32[2,3]".
inline std::string type_and_shape(const TensorEntry& tensor) {
  return message(name_of(tensor.dtype), text_of(tensor.shape));
}

class TensorReader {
 public:
  virtual ~TensorReader() = default;
  TensorReader(const TensorReader&) = delete;
  TensorReader& operator=(const TensorReader&) = delete;

  /// What messages call it.
  const std::string& file() const { return file_; }
  const std::vector<TensorEntry>& tensors() const { return tensors_; }
  const TensorEntry* find(const std::string& name) const {
    const auto found = std::ranges::find(tensors_, name, &TensorEntry::name);
    return found == tensors_.end() ? nullptr : &*found;
  }
  /// Fails with Exit::Data if it cannot be read.
  virtual std::vector<std::byte> read(const TensorEntry& tensor) = 0;

 protected:
  explicit TensorReader(std::string file) : file_(std::move(file)) {}

  std::string file_;
  std::vector<TensorEntry> tensors_ = {};
};

}  // namespace lethe
