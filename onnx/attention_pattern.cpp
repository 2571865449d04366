// Attention as exporters write it out.
#include "onnx/pattern_parts.h"
#include "onnx/patterns.h"

namespace lethe::onnx {
namespace {

/// A Where that hides what its condition does not say, as the condition: 0 where it is seen, and less than any score
/// elsewhere; the other way round it becomes its opposite, which `more` makes. Masks broadcast, so an Expand is left
/// out.
std::string seen_by(const Graph& graph, const ReadNode& where, double seen, double hidden, const std::string& name,
                    std::vector<ReadNode>& more) {
  constexpr double kHidden = -1e4;  // what exporters write for "minus infinity", at least
  const bool as_it_is = seen == 0 && hidden < kHidden, opposite = hidden == 0 && seen < kHidden;
  if (!as_it_is && !opposite) return "";
  const ReadNode* const expand = graph.maker(where.inputs[0], "Expand");
  const std::string condition = expand ? expand->inputs[0] : where.inputs[0];
  if (as_it_is) return condition;
  more.push_back({"Not", "", {condition}, {name}, {}});
  return name;
}

}  // namespace

Found attention_pattern(const Graph& graph, const ReadNode& node, std::int64_t opset, std::vector<ReadNode>& more) {
  if (node.type != "MatMul" || node.inputs.size() != 2) return {};
  const ReadNode* const dropout = graph.maker(node.inputs[0], "Dropout");
  std::string shares = dropout ? dropout->inputs[0] : node.inputs[0];
  // Rows that see nothing are made zeros, as our layer gives them.
  if (const ReadNode* const choice = graph.maker(shares, "Where"); choice && choice->inputs.size() == 3)
    if (const ReadNode* const test = graph.maker(choice->inputs[0], "IsNaN");
        test && graph.same(test->inputs[0], choice->inputs[2]) && graph.number(choice->inputs[1]) == 0.0)
      shares = choice->inputs[2];
  const ReadNode* const softmax = graph.maker(shares, "Softmax");
  if (!softmax || (opset < 13 && softmax->integer("axis", 1) != 3)) return {};  // there all axes from it on are one
  const std::string mask_name = node.outputs[0] + ".mask";
  std::string scores = softmax->inputs[0], mask;
  if (const ReadNode* const plus = graph.maker(scores, "Add"); plus && plus->inputs.size() == 2) {
    const auto is_scores = [&](const std::string& name) {
      const Graph::Product product = graph.product(name);
      return product.values.size() == 1 && graph.maker(product.values[0], "MatMul");
    };
    const std::size_t at = is_scores(plus->inputs[0]) ? 0 : 1;
    scores = plus->inputs[at], mask = plus->inputs[1 - at];
    const ReadNode* const where = graph.maker(mask, "Where");
    const auto seen = where && where->inputs.size() == 3 ? graph.number(where->inputs[1]) : std::nullopt,
               hidden = seen ? graph.number(where->inputs[2]) : std::nullopt;
    if (hidden)
      if (const std::string truth = seen_by(graph, *where, *seen, *hidden, mask_name, more); !truth.empty())
        mask = truth;
  } else if (const ReadNode* const choice = graph.maker(scores, "Where"); choice && choice->inputs.size() == 3) {
    const auto first = graph.number(choice->inputs[1]), second = graph.number(choice->inputs[2]);
    if (first.has_value() == second.has_value()) return {};
    mask = seen_by(graph, *choice, first.value_or(0), second.value_or(0), mask_name, more);
    if (mask.empty()) return {};
    scores = choice->inputs[first ? 2 : 1];
  }
  const Graph::Product scaled = graph.product(scores);
  const ReadNode* const product = scaled.values.size() == 1 ? graph.maker(scaled.values[0], "MatMul") : nullptr;
  if (!product || product->inputs.size() != 2) return {};
  for (const std::string* const of : {&product->inputs[0], &product->inputs[1], &node.inputs[1]})
    if (graph.is_constant(*of)) return {};
  ReadNode found = in_place_of(node, kFoundAttention, {product->inputs[0], product->inputs[1], node.inputs[1]});
  if (!mask.empty()) found.inputs.push_back(mask);
  found.attributes["axis"] = softmax->integer("axis", -1);
  found.attributes["scale"] = static_cast<float>(scaled.number);
  if (dropout) {
    const auto given = dropout->inputs.size() > 1 ? graph.number(dropout->inputs[1]) : std::nullopt;
    found.attributes["dropout"] = static_cast<float>(given.value_or(dropout->number("ratio", 0.5F)));
  }
  return found;
}

}  // namespace lethe::onnx
