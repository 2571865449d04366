// Norms as exporters write them out.
#include <algorithm>

#include "onnx/array.h"
#include "onnx/pattern_parts.h"

namespace lethe::onnx {
namespace {

/// Of a Mul, the other factor where one of the two is made by that type.
const ReadNode* factor(const Graph& graph, const ReadNode& node, const std::string& type, std::string& other) {
  for (std::size_t i = 0; i < 2 && node.inputs.size() == 2; ++i)
    if (const ReadNode* const found = graph.maker(node.inputs[i], type)) {
      other = graph.through(node.inputs[1 - i]);
      return found;
    }
  return nullptr;
}

/// The value whose square this is.
std::optional<std::string> squared(const Graph& graph, const std::string& name) {
  if (const ReadNode* const power = graph.maker(name, "Pow");
      power && power->inputs.size() == 2 && graph.is_number(power->inputs[1], 2))
    return graph.through(power->inputs[0]);
  const ReadNode* const times = graph.maker(name, "Mul");
  if (times && times->inputs.size() == 2 && graph.same(times->inputs[0], times->inputs[1]))
    return graph.through(times->inputs[0]);
  return {};
}

/// Whether a ReduceMean is over the last axis, and keeps it.
bool is_row_mean(const Graph& graph, const ReadNode& node) {
  const ReadTensor* const given = node.inputs.size() > 1 ? graph.constants().find(node.inputs[1]) : nullptr;
  const Ints axes = given && given->is_integer() ? given->integers() : node.integers("axes", {});
  return axes == Ints{-1} && node.integer("keepdims", 1) == 1;
}

/// The value of which this is sqrt(mean of squares + eps).
std::optional<std::pair<std::string, double>> root_mean_square(const Graph& graph, const std::string& name) {
  const ReadNode* root = graph.maker(name, "Sqrt");
  if (const ReadNode* const power = graph.maker(name, "Pow");
      !root && power && power->inputs.size() == 2 && graph.is_number(power->inputs[1], 0.5))
    root = power;
  const ReadNode* const sum = root ? graph.maker(root->inputs[0], "Add") : nullptr;
  const auto with = sum ? graph.with_number(*sum) : std::nullopt;
  const ReadNode* const mean = with ? graph.maker(with->first, "ReduceMean") : nullptr;
  if (!mean || !is_row_mean(graph, *mean)) return {};
  const auto of = squared(graph, mean->inputs[0]);
  if (!of) return {};
  return {{*of, with->second}};
}

/// The Mul of a row of numbers that alone reads a value, and that row.
const ReadNode* by_row(const Graph& graph, const std::string& value, const char* type, std::string& row) {
  const ReadNode* reader = graph.only_reader(value);
  constexpr int kDeepest = 100;  // of a stranger's chain, which may lead to itself
  for (int i = 0; i < kDeepest && reader && (reader->type == "Cast" || reader->type == "Identity") &&
                  graph.same(reader->outputs[0], value);
       ++i)
    reader = graph.only_reader(reader->outputs[0]);
  if (!reader || reader->type != type || reader->inputs.size() != 2) return nullptr;
  for (const std::string& input : reader->inputs)
    if (const ReadTensor* const tensor = graph.constants().find(input);
        tensor && tensor->shape.size() == 1 && tensor->is_float()) {
      row = input;
      return reader;
    }
  return nullptr;
}

/// x - mean(x)
std::optional<std::string> centred(const Graph& graph, const std::string& name) {
  const ReadNode* const less = graph.maker(name, "Sub");
  const ReadNode* const mean = less && less->inputs.size() == 2 ? graph.maker(less->inputs[1], "ReduceMean") : nullptr;
  if (!mean || !is_row_mean(graph, *mean) || !graph.same(mean->inputs[0], less->inputs[0])) return {};
  return graph.through(less->inputs[0]);
}

/// What comes after the norm of rows: where it ends, with its weight and bias.
Found norm_with_row(const Graph& graph, const ReadNode& core, const std::string& x, double eps, bool is_centred) {
  std::string weight, bias;
  const ReadNode* const times = by_row(graph, core.outputs[0], "Mul", weight);
  if (!times) return {};
  const ReadNode* const plus = is_centred ? by_row(graph, times->outputs[0], "Add", bias) : nullptr;
  ReadNode norm =
      in_place_of(plus ? *plus : *times, is_centred ? "LayerNormalization" : "RMSNormalization", {x, weight});
  if (plus) norm.inputs.push_back(bias);
  norm.attributes["epsilon"] = static_cast<float>(eps);
  norm.attributes["axis"] = std::int64_t{-1};
  return norm;
}

}  // namespace

Found norm_pattern(const Graph& graph, const ReadNode& node) {
  std::string above;
  std::optional<std::pair<std::string, double>> below;
  if (node.type == "Div" && node.inputs.size() == 2) {
    above = graph.through(node.inputs[0]);
    below = root_mean_square(graph, node.inputs[1]);
  } else if (node.type == "Mul") {
    const ReadNode* inverse = factor(graph, node, "Reciprocal", above);
    if (inverse) below = root_mean_square(graph, inverse->inputs[0]);
    if (const ReadNode* const quotient = inverse ? nullptr : factor(graph, node, "Div", above);
        quotient && quotient->inputs.size() == 2 && graph.is_number(quotient->inputs[0], 1))
      below = root_mean_square(graph, quotient->inputs[1]);
  }
  if (!below || !graph.same(below->first, above)) return {};
  const auto x = centred(graph, above);
  return norm_with_row(graph, node, x ? *x : above, below->second, x.has_value());
}

namespace {

/// A constant of one number for each channel, [C], [C,1,1] or [1,C,1,1].
bool is_of_channels(const Graph& graph, const std::string& name) {
  const ReadTensor* const tensor = graph.constants().find(name);
  return tensor && tensor->is_float() && tensor->shape.size() >= 3 && count_of(tensor->shape) > 1 &&
         std::ranges::max(tensor->shape) == count_of(tensor->shape) &&
         tensor->shape[tensor->shape.size() - 3] == count_of(tensor->shape);
}

bool is_everywhere(const Graph& graph, const std::string& name, float number) {
  const ReadTensor* const tensor = graph.constants().find(name);
  if (!tensor || !tensor->is_float()) return false;
  const std::vector<float> all = tensor->floats();
  return !all.empty() && std::ranges::all_of(all, [&](float one) { return one == number; });
}

}  // namespace

Found group_norm_pattern(const Graph& graph, const ReadNode& node) {
  if (node.type != "Add" || node.inputs.size() != 2) return {};
  for (std::size_t i = 0; i < 2; ++i) {
    const ReadNode* const times = graph.maker(node.inputs[i], "Mul");
    if (!times || times->inputs.size() != 2 || !is_of_channels(graph, node.inputs[1 - i])) continue;
    for (std::size_t k = 0; k < 2; ++k) {
      const ReadNode* const back = graph.maker(times->inputs[k], "Reshape");
      const ReadNode* const norm = back ? graph.maker(back->inputs[0], "InstanceNormalization") : nullptr;
      const ReadNode* const rows = norm ? graph.maker(norm->inputs[0], "Reshape") : nullptr;
      const ReadTensor* const to = rows && rows->inputs.size() == 2 ? graph.constants().find(rows->inputs[1]) : nullptr;
      if (!to || !to->is_integer() || to->shape != Shape{3} || norm->inputs.size() != 3) continue;
      const Ints shape = to->integers();
      if (!is_of_channels(graph, times->inputs[1 - k]) || shape[0] != 0 || shape[1] < 1 || shape[2] != -1 ||
          !is_everywhere(graph, norm->inputs[1], 1) || !is_everywhere(graph, norm->inputs[2], 0))
        continue;
      ReadNode found =
          in_place_of(node, "GroupNormalization", {rows->inputs[0], times->inputs[1 - k], node.inputs[1 - i]});
      found.attributes["num_groups"] = shape[1];
      found.attributes["epsilon"] = norm->number("epsilon", 1e-5F);
      return found;
    }
  }
  return {};
}

}  // namespace lethe::onnx
