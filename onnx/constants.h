// The constants of a model: its own tensors, and what follows from them alone.
#pragma once
#include <map>
#include <optional>

#include "onnx/read_model.h"

namespace lethe::onnx {

/// The tensor of the file that a constant has the elements of, and whether as a matrix the other way round.
struct WeightOrigin {
  std::string tensor;
  bool transposed = false;
};

class Constants {
 public:
  explicit Constants(std::map<std::string, ReadTensor> tensors);

  bool contains(const std::string& name) const { return tensors_.contains(name); }
  const ReadTensor* find(const std::string& name) const;
  /// Of what training may change; null for what was computed, such as masks and positions.
  const WeightOrigin* origin(const std::string& name) const;
  /// A single number.
  std::optional<double> number(const std::string& name) const;

  void add(const ReadNode& node, ReadTensor tensor);
  /// Whether it takes rows one after another of a table that is a weight, such as positions: then the table stays
  /// whole.
  bool is_table(const ReadNode& node) const;
  /// Whether the node is of constants alone, and no is_table(), and its output one now. See folded() for `samples`.
  bool fold(const ReadNode& node, std::int64_t samples);

 private:
  std::map<std::string, ReadTensor> tensors_;
  std::map<std::string, WeightOrigin> origins_;
  std::int64_t folded_ = 0;  // bytes of constants that the file does not have
};

}  // namespace lethe::onnx
