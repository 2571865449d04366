// What looks for a pattern that ends at a node, and gives the node that says the same.
#pragma once
#include "onnx/graph.h"

namespace lethe::onnx {

using Found = std::optional<ReadNode>;

/// (x - mean) / sqrt(mean((x - mean)^2) + eps), or x / sqrt(mean(x^2) + eps), times a row, and a row more.
Found norm_pattern(const Graph& graph, const ReadNode& node);
/// Groups as channels of an instance norm, and then what each channel has.
Found group_norm_pattern(const Graph& graph, const ReadNode& node);
/// Products of x with a function of x: Gelu, Swish, HardSwish.
Found activation_pattern(const Graph& graph, const ReadNode& node);
/// softmax(scale q k + mask) v. `more`: nodes to stand before it.
Found attention_pattern(const Graph& graph, const ReadNode& node, std::int64_t opset, std::vector<ReadNode>& more);

/// A node in place of `last`, under its outputs.
inline ReadNode in_place_of(const ReadNode& last, const std::string& type, std::vector<std::string> inputs) {
  return {type, last.name, std::move(inputs), last.outputs, {}};
}

}  // namespace lethe::onnx
