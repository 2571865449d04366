#include "onnx/patterns.h"

#include "onnx/pattern_parts.h"

namespace lethe::onnx {
namespace {

/// Folds what follows from constants of the file.
void fold_all(std::vector<ReadNode>& nodes, Constants& constants) {
  std::erase_if(nodes, [&](const ReadNode& node) { return !node.outputs.empty() && constants.fold(node, 0); });
}

}  // namespace

void recognise(std::vector<ReadNode>& nodes, Constants& constants, const std::vector<ValueInfo>& outputs,
               std::int64_t opset) {
  fold_all(nodes, constants);
  // One kind after the other, each on the graph that the one before left.
  const auto replace = [&](const auto& find) {
    const Graph graph(nodes, constants);
    std::map<std::string, std::vector<ReadNode>> in_place;  // of the node that made an output
    for (const ReadNode& node : nodes) {
      std::vector<ReadNode> more;
      if (Found found = node.outputs.empty() ? std::nullopt : find(graph, node, more)) {
        more.push_back(std::move(*found));
        in_place.emplace(more.back().outputs[0], more);
      }
    }
    std::vector<ReadNode> now;
    for (ReadNode& node : nodes)
      if (const auto found = node.outputs.empty() ? in_place.end() : in_place.find(node.outputs[0]);
          found != in_place.end())
        now.insert(now.end(), found->second.begin(), found->second.end());
      else
        now.push_back(std::move(node));
    nodes = std::move(now);
    drop_unread(nodes, outputs);
  };
  replace([](const Graph& graph, const ReadNode& node, std::vector<ReadNode>&) { return norm_pattern(graph, node); });
  replace(
      [](const Graph& graph, const ReadNode& node, std::vector<ReadNode>&) { return group_norm_pattern(graph, node); });
  replace(
      [](const Graph& graph, const ReadNode& node, std::vector<ReadNode>&) { return activation_pattern(graph, node); });
  replace([&](const Graph& graph, const ReadNode& node, std::vector<ReadNode>& more) {
    return attention_pattern(graph, node, opset, more);
  });
}

}  // namespace lethe::onnx
