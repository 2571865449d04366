// Ops of each element by itself, of pairs, and of several values side by side.
#include <algorithm>
#include <cmath>

#include "framework/error.h"
#include "onnx/import_numbers.h"
#include "onnx/import_state.h"

namespace lethe::onnx {
namespace {

void give_like(ImportState& state, const ReadNode& node, Json entry) {
  const LayerValue x = state.value(node, 0);
  state.give(node, std::move(entry), {x}, x.shape, x.ones);
}

void import_unary(ImportState& state, const ReadNode& node) {
  static const std::map<std::string, const char*> ours = {{"Relu", "relu"}, {"Sigmoid", "sigmoid"},  {"Tanh", "tanh"},
                                                          {"Exp", "exp"},   {"Log", "log"},          {"Sqrt", "sqrt"},
                                                          {"Abs", "abs"},   {"Softplus", "softplus"}};
  give_like(state, node, {{"op", ours.at(node.type)}});
}

void import_gelu(ImportState& state, const ReadNode& node) {
  const std::string how = node.word("approximate", "none");
  check_as(Exit::Data, how == "none" || how == "tanh", node.text(), ": approximates by ", quote(how));
  give_like(state, node, {{"op", "gelu"}, {"approximate", how}});
}

void import_leaky_relu(ImportState& state, const ReadNode& node) {
  give_like(state, node, {{"op", "leaky_relu"}, {"slope", as_written(node.number("alpha", 0.01F))}});
}

/// One number of a constant.
std::optional<double> one_number(const ReadTensor* tensor) {
  if (!tensor || !tensor->is_float()) return {};
  const std::vector<float> values = tensor->floats();
  return values.size() == 1 ? std::optional(as_written(values[0])) : std::nullopt;
}

void import_clip(ImportState& state, const ReadNode& node) {
  Json entry = {{"op", "clip"}};
  for (const auto& [key, input] : {std::pair{"min", 1}, {"max", 2}}) {
    const bool given =
        input < static_cast<int>(node.inputs.size()) && !node.inputs[static_cast<std::size_t>(input)].empty();
    if (node.has(key) && std::isfinite(node.number(key, 0))) entry[key] = as_written(node.number(key, 0));
    if (!given) continue;
    const std::optional<double> bound = one_number(state.constant(node, static_cast<std::size_t>(input)));
    check_as(Exit::Data, bound.has_value(), node.text(), ": its bound is no constant number");
    if (std::isfinite(*bound)) entry[key] = *bound;
  }
  give_like(state, node, entry);
}

void import_dropout(ImportState& state, const ReadNode& node) {
  const ReadTensor* const given = state.optional_constant(node, 1);
  const std::optional<double> number = given ? one_number(given) : as_written(node.number("ratio", 0.5F));
  check_as(Exit::Data, number.has_value(), node.text(), ": its ratio is no number");
  const double ratio = *number;
  check_as(Exit::Data, ratio >= 0 && ratio < 1, node.text(), ": drops a share of ", ratio);
  give_like(state, node, {{"op", "dropout"}, {"p", ratio}});
}

void import_identity(ImportState& state, const ReadNode& node) { state.pass(node, state.value(node, 0)); }

/// Of floats to floats, and of whole numbers that are fed to such.
void import_cast(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.value(node, 0);
  const Type to = type_of_number(node.integer("to", 0), node.text());
  const Json& inputs = state.result.network["inputs"];
  const bool is_whole = inputs.contains(x.layer) && inputs[x.layer].contains("dtype");
  const bool to_whole = to == Type::i32 || to == Type::i64 || to == Type::u8 || to == Type::boolean;
  check_as(Exit::Data, to != Type::boolean && is_whole == to_whole, node.text(),
           ": changes numbers to another type, which is not read");
  state.pass(node, x);
}

/// By a number: a x + b.
bool give_scaled(ImportState& state, const ReadNode& node, const LayerValue& x, double number, bool number_first) {
  double a = 1, b = 0;
  if (node.type == "Add")
    b = number;
  else if (node.type == "Sub")
    a = number_first ? -1 : 1, b = number_first ? number : -number;
  else if (node.type == "Mul")
    a = number;
  else if (node.type == "Div" && !number_first && number != 0)
    a = 1 / number;
  else
    return false;
  state.give(node, {{"op", "scale"}, {"a", a}, {"b", b}}, {x}, x.shape, x.ones);
  return true;
}

/// A constant as a learned tensor that broadcasts over the batch: of a sample's shape, with axes of size 1.
LayerValue learned(ImportState& state, const ReadNode& node, const ReadTensor& tensor, const LayerValue& x) {
  Shape shape = tensor.shape;
  while (shape.size() > x.shape.size() && shape.front() == 1) shape.erase(shape.begin());
  shape.insert(shape.begin(), x.shape.size() - std::min(shape.size(), x.shape.size()), 1);
  bool fits = shape.size() == x.shape.size() && x.ones == 0;
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] == 1 || shape[i] == x.shape[i];
  check_as(Exit::Data, fits, node.text(), ": a constant ", text_of(tensor.shape), " does not broadcast over samples ",
           text_of(x.shape));
  Json entry = {{"op", "parameter"}, {"shape", shape}};
  if (shape.size() == 3) entry["layout"] = "image";
  const LayerValue made = state.add(state.name_of(node) + ".constant", entry, {x}, shape);
  shape.insert(shape.begin(), 1);
  state.add_weight(made.layer + ".weight", shape, tensor.floats());
  return made;
}

void import_pair(ImportState& state, const ReadNode& node) {
  static const std::map<std::string, const char*> ours = {{"Add", "add"}, {"Sub", "sub"}, {"Mul", "mul"},
                                                          {"Div", "div"}, {"Sum", "add"}, {"Max", "max"}};
  const auto is_constant = [&](std::size_t i) { return state.constant(node, i) != nullptr; };
  if (node.inputs.size() == 2 && (is_constant(0) || is_constant(1))) {
    const std::size_t of = is_constant(0) ? 0 : 1;
    const LayerValue x = state.value(node, 1 - of);
    const ReadTensor& tensor = *state.constant(node, of);
    if (const auto number = one_number(&tensor); number && give_scaled(state, node, x, *number, of == 0)) return;
    check_as(Exit::Data, of == 1 || node.type == "Add" || node.type == "Mul" || node.type == "Max", node.text(),
             ": of a constant and a value is not read");
    return state.give(node, {{"op", ours.at(node.type)}}, {x, learned(state, node, tensor, x)}, x.shape);
  }
  std::vector<LayerValue> in;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) in.push_back(state.value(node, i));
  if (std::ranges::any_of(in, [](const LayerValue& value) { return value.shape.size() == 3; }))
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = state.image(node, i);
  check_as(Exit::Data, !in.empty(), node.text(), ": of nothing");
  if (in.size() == 1) return state.pass(node, in[0]);
  for (const LayerValue& value : in)
    check_as(Exit::Data, value.shape.size() == in[0].shape.size() && value.ones == in[0].ones, node.text(), ": of ",
             text_of(in[0].shape), " and ", text_of(value.shape), " is not read");
  const LayerValue& largest = *std::ranges::max_element(in, {}, [](const LayerValue& value) {
    std::int64_t n = 1;
    for (const std::int64_t size : value.shape) n *= size;
    return n;
  });
  state.give(node, {{"op", ours.at(node.type)}}, in, largest.shape, in[0].ones);
}

void import_concat(ImportState& state, const ReadNode& node) {
  std::vector<LayerValue> in;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) in.push_back(state.value(node, i));
  check_as(Exit::Data, !in.empty(), node.text(), ": of nothing");
  Shape shape = in[0].shape;
  const auto rank = std::ssize(shape);
  std::int64_t axis = node.integer("axis", 1);
  if (axis < 0) axis += rank + in[0].ones + 1;
  const bool is_image = rank == 3, is_row = rank == 1 && axis == 1, is_last = rank == 2 && axis == 2;
  check_as(Exit::Data, (is_image && axis >= 1 && axis <= 3) || is_row || is_last, node.text(), ": along axis ", axis,
           " of ", text_of(shape), " is not read");
  const auto at = static_cast<std::size_t>(axis - 1);
  for (std::size_t i = 1; i < in.size(); ++i) {
    check_as(Exit::Data, in[i].shape.size() == shape.size() && in[i].ones == in[0].ones, node.text(),
             ": of values of different axes");
    shape[at] += in[i].shape[at];
  }
  const char* const image_axes[] = {"channels", "height", "width"};
  state.give(node, {{"op", "concat"}, {"axis", is_image ? image_axes[at] : "channels"}}, in, shape, in[0].ones);
}

}  // namespace

void add_elementwise_imports(ImportTable& table) {
  for (const char* const type : {"Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Abs", "Softplus"})
    table[type] = import_unary;
  table["Gelu"] = import_gelu;
  table["LeakyRelu"] = import_leaky_relu;
  table["Clip"] = import_clip;
  table["Dropout"] = import_dropout;
  table["Identity"] = import_identity;
  table["Cast"] = import_cast;
  for (const char* const type : {"Add", "Sub", "Mul", "Div", "Sum", "Max"}) table[type] = import_pair;
  table["Concat"] = import_concat;
}

}  // namespace lethe::onnx
