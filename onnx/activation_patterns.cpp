// Activations as exporters write them out.
#include "onnx/pattern_parts.h"

namespace lethe::onnx {
namespace {

/// The node whose only input that is no number is made by `type`, with 1 added.
const ReadNode* one_more(const Graph& graph, const std::string& name, const char* type) {
  const ReadNode* const sum = graph.maker(name, "Add");
  const auto with = sum ? graph.with_number(*sum) : std::nullopt;
  return with && std::fabs(with->second - 1) < 1e-6 ? graph.maker(with->first, type) : nullptr;
}

bool is_product(const Graph::Product& product, double number, const std::vector<std::string>& values) {
  return std::fabs(product.number - number) <= 1e-4 * std::fabs(number) && product.values == values;
}

/// sqrt(2 / pi) (x + 0.044715 x^3)
bool is_gelu_inner(const Graph& graph, const std::string& name, const std::string& x) {
  const Graph::Product outer = graph.product(name);
  if (std::fabs(outer.number - 0.7978845608) > 1e-4 || outer.values.size() != 1) return false;
  const ReadNode* const sum = graph.maker(outer.values[0], "Add");
  if (!sum || sum->inputs.size() != 2) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!graph.same(sum->inputs[i], x)) continue;
    Graph::Product cube = graph.product(sum->inputs[1 - i]);
    if (is_product(cube, 0.044715, {x, x, x})) return true;
    const ReadNode* const power = cube.values.size() == 1 ? graph.maker(cube.values[0], "Pow") : nullptr;
    if (power && power->inputs.size() == 2 && is_product(cube, 0.044715, cube.values) &&
        graph.same(power->inputs[0], x) && graph.is_number(power->inputs[1], 3))
      return true;
  }
  return false;
}

}  // namespace

Found activation_pattern(const Graph& graph, const ReadNode& node) {
  if (node.type != "Mul" && node.type != "Div") return {};
  const Graph::Product all = graph.product(node.outputs[0]);
  if (all.values.size() != 2) return {};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string &x = all.values[1 - i], &f = all.values[i];
    const bool is_half = std::fabs(all.number - 0.5) < 1e-6, is_one = std::fabs(all.number - 1) < 1e-6;
    if (const ReadNode* const erf = is_half ? one_more(graph, f, "Erf") : nullptr;
        erf && is_product(graph.product(erf->inputs[0]), 0.70710678, {x}))
      return in_place_of(node, "Gelu", {x});
    if (const ReadNode* const tanh = is_half ? one_more(graph, f, "Tanh") : nullptr;
        tanh && is_gelu_inner(graph, tanh->inputs[0], x)) {
      ReadNode gelu = in_place_of(node, "Gelu", {x});
      gelu.attributes["approximate"] = std::string("tanh");
      return gelu;
    }
    if (const ReadNode* const sigmoid = is_one ? graph.maker(f, "Sigmoid") : nullptr) {
      const Graph::Product inner = graph.product(sigmoid->inputs[0]);
      if (inner.values != std::vector<std::string>{x}) continue;
      ReadNode swish = in_place_of(node, "Swish", {x});
      if (inner.number != 1) swish.attributes["alpha"] = static_cast<float>(inner.number);
      return swish;
    }
    if (const ReadNode* const hard = is_one ? graph.maker(f, "HardSigmoid") : nullptr;
        hard && graph.same(hard->inputs[0], x) && std::fabs(hard->number("alpha", 0.2F) - 1.0F / 6) < 1e-6F &&
        hard->number("beta", 0.5F) == 0.5F)
      return in_place_of(node, "HardSwish", {x});
    const ReadNode* const clip = std::fabs(all.number - 1.0 / 6) < 1e-6 ? graph.maker(f, "Clip") : nullptr;
    const ReadNode* const sum =
        clip && clip->inputs.size() == 3 && graph.is_number(clip->inputs[2], 6) && graph.number(clip->inputs[1]) == 0.0
            ? graph.maker(clip->inputs[0], "Add")
            : nullptr;
    const auto with = sum ? graph.with_number(*sum) : std::nullopt;
    if (with && with->second == 3 && graph.same(with->first, x)) return in_place_of(node, "HardSwish", {x});
  }
  return {};
}

}  // namespace lethe::onnx
