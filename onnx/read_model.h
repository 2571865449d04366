// ONNX files of others, as they are: nothing is taken of a size that the file does not have.
#pragma once
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "onnx/model.h"
#include "onnx/read_tensor.h"

namespace lethe::onnx {

using ReadValue =
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>, ReadTensor>;

struct ReadNode {
  std::string type, name;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, ReadValue> attributes;

  /// "Conv 'conv_1'", for messages.
  std::string text() const;
  bool has(const std::string& key) const { return attributes.contains(key); }
  /// The attribute, or what is given if it is absent; fails for one of another type.
  std::int64_t integer(const std::string& key, std::int64_t absent) const;
  float number(const std::string& key, float absent) const;
  std::string word(const std::string& key, const std::string& absent) const;
  Ints integers(const std::string& key, const Ints& absent) const;
};

struct ReadModel {
  std::int64_t opset = 0;
  std::string name;
  std::vector<ReadNode> nodes;  // in an order in which each can be computed
  std::map<std::string, ReadTensor> tensors;
  std::vector<ValueInfo> inputs, outputs;  // inputs: those that are no tensors of the file
};

/// Reads a model of opset 7 to 23. Data outside of the file must stand in its folder. Fails with Exit::Data, naming the
/// file and the node or tensor, for what is no such model, has subgraphs, functions or operators of another domain, or
/// numbers of another type than floats and integers.
ReadModel read_model(const std::string& file);

}  // namespace lethe::onnx
