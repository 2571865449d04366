#include "onnx/graph.h"

#include <algorithm>

namespace lethe::onnx {
namespace {

bool changes_nothing(const ReadNode& node) {
  if (node.type == "Identity") return true;
  const std::int64_t to = node.type == "Cast" ? node.integer("to", 0) : 0;
  return to == 1 || to == 10 || to == 11 || to == 16;  // floats
}

}  // namespace

Graph::Graph(std::vector<ReadNode>& nodes, const Constants& constants) : nodes_(nodes), constants_(constants) {
  for (const ReadNode& node : nodes_) {
    for (const std::string& output : node.outputs) makers_[output] = &node;
    for (const std::string& input : node.inputs) readers_[input].push_back(&node);
  }
}

const std::string& Graph::through(const std::string& name) const {
  const std::string* now = &name;
  constexpr int kDeepest = 100;  // of a stranger's chain, which may lead to itself
  auto found = makers_.find(*now);
  for (int i = 0; i < kDeepest && found != makers_.end() && changes_nothing(*found->second); ++i) {
    if (found->second->inputs.empty()) break;
    now = &found->second->inputs[0];
    found = makers_.find(*now);
  }
  return *now;
}

const ReadNode* Graph::maker(const std::string& name, const std::string& type) const {
  const auto found = makers_.find(through(name));
  return found == makers_.end() || found->second->type != type || found->second->inputs.empty() ? nullptr
                                                                                                : found->second;
}

bool Graph::is_number(const std::string& name, double expected) const {
  const std::optional<double> found = number(name);
  return found && std::fabs(*found - expected) <= 1e-4 * std::fabs(expected);
}

const ReadNode* Graph::only_reader(const std::string& name) const {
  const auto found = readers_.find(name);
  return found == readers_.end() || found->second.size() != 1 ? nullptr : found->second.front();
}

Graph::Product Graph::product(const std::string& name, int deepest) const {
  if (const auto one = number(name)) return {*one, {}};
  const ReadNode* const times = deepest > 0 ? maker(name, "Mul") : nullptr;
  const ReadNode* const by = deepest > 0 ? maker(name, "Div") : nullptr;
  if (times && times->inputs.size() == 2) {
    Product left = product(times->inputs[0], deepest - 1);
    const Product right = product(times->inputs[1], deepest - 1);
    left.number *= right.number;
    left.values.insert(left.values.end(), right.values.begin(), right.values.end());
    return left;
  }
  if (by && by->inputs.size() == 2)
    if (const auto divisor = number(by->inputs[1]); divisor && *divisor != 0) {
      Product left = product(by->inputs[0], deepest - 1);
      left.number /= *divisor;
      return left;
    }
  return {1, {through(name)}};
}

std::optional<std::pair<std::string, double>> Graph::with_number(const ReadNode& node) const {
  if (node.inputs.size() != 2) return {};
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (const auto found = number(node.inputs[i])) return {{through(node.inputs[1 - i]), *found}};
  return {};
}

void drop_unread(std::vector<ReadNode>& nodes, const std::vector<ValueInfo>& outputs) {
  std::set<std::string> read;
  for (const ValueInfo& output : outputs) read.insert(output.name);
  std::vector<ReadNode> kept;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (std::ranges::none_of(node->outputs, [&](const std::string& output) { return read.contains(output); })) continue;
    read.insert(node->inputs.begin(), node->inputs.end());
    kept.push_back(std::move(*node));
  }
  std::ranges::reverse(kept);
  nodes = std::move(kept);
}

}  // namespace lethe::onnx
