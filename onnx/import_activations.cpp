// Functions of each element by itself.
#include <cmath>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/import_numbers.h"
#include "onnx/import_pair.h"
#include "onnx/import_tables.h"

namespace lethe::onnx {
namespace {

/// Ops that are a layer without settings.
const std::map<std::string, const char*>& plain_names() {
  static const std::map<std::string, const char*> all = {{"Relu", "relu"},
                                                         {"Sigmoid", "sigmoid"},
                                                         {"Tanh", "tanh"},
                                                         {"Exp", "exp"},
                                                         {"Log", "log"},
                                                         {"Sqrt", "sqrt"},
                                                         {"Abs", "abs"},
                                                         {"Softplus", "softplus"},
                                                         {"Erf", "erf"},
                                                         {"HardSwish", "hard_swish"},
                                                         {"Mish", "mish"},
                                                         {"Softsign", "softsign"},
                                                         {"Sign", "sign"},
                                                         {"Floor", "floor"},
                                                         {"Ceil", "ceil"},
                                                         {"Round", "round"},
                                                         {"Reciprocal", "reciprocal"},
                                                         {"Sin", "sin"},
                                                         {"Cos", "cos"},
                                                         {"Tan", "tan"},
                                                         {"Asin", "asin"},
                                                         {"Acos", "acos"},
                                                         {"Atan", "atan"},
                                                         {"Sinh", "sinh"},
                                                         {"Cosh", "cosh"},
                                                         {"Asinh", "asinh"},
                                                         {"Acosh", "acosh"},
                                                         {"Atanh", "atanh"}};
  return all;
}

void import_unary(ImportState& state, const ReadNode& node) {
  state.give_like(node, {{"op", plain_names().at(node.type)}}, state.value(node, 0));
}

/// A layer with numbers that are attributes, and what they are if absent.
struct Numbered {
  const char* op;
  std::vector<std::tuple<const char*, const char*, float>> numbers;  // ours, theirs
};

const std::map<std::string, Numbered>& numbered() {
  static const std::map<std::string, Numbered> all = {
      {"LeakyRelu", {"leaky_relu", {{"slope", "alpha", 0.01F}}}},
      {"Elu", {"elu", {{"alpha", "alpha", 1}}}},
      {"Celu", {"celu", {{"alpha", "alpha", 1}}}},
      {"Selu",
       {"selu", {{"alpha", "alpha", 1.67326319217681884765625F}, {"gamma", "gamma", 1.05070102214813232421875F}}}},
      {"HardSigmoid", {"hard_sigmoid", {{"alpha", "alpha", 0.2F}, {"beta", "beta", 0.5F}}}},
      {"Shrink", {"shrink", {{"bias", "bias", 0}, {"lambd", "lambd", 0.5F}}}}};
  return all;
}

void import_numbered(ImportState& state, const ReadNode& node) {
  const Numbered& how = numbered().at(node.type);
  Json entry = {{"op", how.op}};
  for (const auto& [ours, theirs, absent] : how.numbers) entry[ours] = as_written(node.number(theirs, absent));
  state.give_like(node, entry, state.value(node, 0));
}

void import_thresholded_relu(ImportState& state, const ReadNode& node) {
  state.give_like(node, {{"op", "threshold"}, {"threshold", as_written(node.number("alpha", 1))}, {"value", 0}},
                  state.value(node, 0));
}

/// x sigmoid(alpha x)
void import_swish(ImportState& state, const ReadNode& node) {
  Json entry = {{"op", "silu"}};
  check_as(Exit::Data, state.stated(state.value(node, 0).layer).type == Type::f32, node.text(), ": of whole numbers");
  if (const float alpha = node.number("alpha", 1); alpha != 1) entry["alpha"] = as_written(alpha);
  state.give_like(node, entry, state.value(node, 0));
}

/// max(0, x) + slope min(0, x), the slope of each channel, of all, or of any shape that broadcasts.
void import_prelu(ImportState& state, const ReadNode& node) {
  const View& x = state.value(node, 0);
  const ReadTensor& slope = state.needed(node, 1, "slope");
  const std::int64_t count = count_of(slope.shape);
  const bool of_channels = x.axes.size() >= 2 && count > 1 && count == size_of(x, 1, state.batch()) &&
                           slope.shape.size() + 1 <= x.axes.size() &&
                           slope.shape[slope.shape.size() + 1 - x.axes.size()] == count;
  if (count == 1 || of_channels) {
    const std::string name = state.name_of(node);
    const View rows = count == 1 || !state.image_or_none(x).empty() ? x : state.along(x, 1);
    state.give_like(node, {{"op", "prelu"}, {"name", name}, {"per", count == 1 ? "all" : "channel"}}, rows);
    return state.add_weight(name + ".weight", {count}, slope.floats(), node.inputs[1]);
  }
  const auto& out = node.outputs[0];
  ReadNode step = node;
  const auto give = [&](const char* name, Json entry, const View& of) {
    step.outputs = {out + name};
    state.give_like(step, std::move(entry), of);
    return step.outputs[0];
  };
  const std::string above = give(".above", {{"op", "relu"}}, x),
                    below = give(".below", {{"op", "clip"}, {"max", 0}}, x);
  step.inputs = {below, node.inputs[1]}, step.outputs = {out + ".part"};
  give_pair(state, step, {{"op", "mul"}}, operand(state, step, 0), operand(state, step, 1));
  step.inputs = {above, out + ".part"}, step.outputs = {out};
  give_pair(state, step, {{"op", "add"}}, operand(state, step, 0), operand(state, step, 1));
}

void import_gelu(ImportState& state, const ReadNode& node) {
  const std::string how = node.word("approximate", "none");
  check_as(Exit::Data, how == "none" || how == "tanh", node.text(), ": approximates by ", quote(how));
  state.give_like(node, {{"op", "gelu"}, {"approximate", how}}, state.value(node, 0));
}

void import_clip(ImportState& state, const ReadNode& node) {
  Json entry = {{"op", "clip"}};
  for (const auto& [key, input] : {std::pair{"min", std::size_t{1}}, {"max", std::size_t{2}}}) {
    if (node.has(key) && std::isfinite(node.number(key, 0))) entry[key] = as_written(node.number(key, 0));
    if (input >= node.inputs.size() || node.inputs[input].empty()) continue;
    const std::optional<double> bound = state.constants.number(node.inputs[input]);
    check_as(Exit::Data, bound.has_value(), node.text(), ": its bound is no constant number");
    if (std::isfinite(*bound)) entry[key] = *bound;
  }
  state.give_like(node, entry, state.value(node, 0));
}

}  // namespace

void add_activation_imports(ImportTable& table) {
  for (const auto& [type, ours] : plain_names()) table[type] = import_unary;
  for (const auto& [type, ours] : numbered()) table[type] = import_numbered;
  table["PRelu"] = import_prelu;
  table["Swish"] = import_swish;
  table["ThresholdedRelu"] = import_thresholded_relu;
  table["Gelu"] = import_gelu;
  table["Clip"] = import_clip;
}

}  // namespace lethe::onnx
