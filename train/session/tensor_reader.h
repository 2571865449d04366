// Named tensors that are read one by one, from a file or from several.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "framework/error.h"
#include "framework/language/block_formats.h"

namespace lethe {

struct TensorEntry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape = {};
  std::int64_t begin = 0;  // bytes into the data; set by reader and writer
  /// These stand in place of `dtype` for a tensor that can only be passed over: the file's name of its type, and its
  /// size.
  std::string foreign_dtype = {};
  std::int64_t foreign_bytes = 0;

  bool is_foreign() const { return !foreign_dtype.empty(); }
  bool is_of(DType wanted) const { return !is_foreign() && dtype == wanted; }
  std::int64_t bytes() const { return is_foreign() ? foreign_bytes : bytes_of(dtype, shape); }
};

/// "f32[2,3]", "BOOL[2,3]".
inline std::string type_and_shape(const TensorEntry& tensor) {
  const std::string foreign = shortened(tensor.foreign_dtype);
  return message(foreign.empty() ? name_of(tensor.dtype) : foreign, text_of(tensor.shape));
}

class TensorReader {
 public:
  virtual ~TensorReader() = default;
  TensorReader(const TensorReader&) = delete;
  TensorReader& operator=(const TensorReader&) = delete;

  /// What messages call it.
  const std::string& file() const { return file_; }
  /// That file, and others in which its tensors are.
  virtual std::vector<std::string> files() const { return {file_}; }
  const std::vector<TensorEntry>& tensors() const { return tensors_; }
  const TensorEntry* find(const std::string& name) const {
    const auto found = std::ranges::find(tensors_, name, &TensorEntry::name);
    return found == tensors_.end() ? nullptr : &*found;
  }
  /// By whose names these are, of those that a network knows (WeightNames::library); "" if the tensors have to tell.
  virtual std::string library() const { return ""; }
  /// Fails with Exit::Data if it cannot be read.
  virtual std::vector<std::byte> read(const TensorEntry& tensor) = 0;

 protected:
  explicit TensorReader(std::string file) : file_(std::move(file)) {}

  std::string file_;
  std::vector<TensorEntry> tensors_ = {};
};

}  // namespace lethe
