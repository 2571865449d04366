// Sums, products and comparisons of values, choices among them, and values side by side.
#include <algorithm>
#include <cmath>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/import_numbers.h"
#include "onnx/import_pair.h"
#include "onnx/import_tables.h"
#include "onnx/patterns.h"

namespace lethe::onnx {
namespace {

/// Active while training, whatever mode the file was exported in.
void import_dropout(ImportState& state, const ReadNode& node) {
  const bool given = state.optional_constant(node, 1) != nullptr;
  const std::optional<double> ratio =
      given ? state.constants.number(node.inputs[1]) : as_written(node.number("ratio", 0.5F));
  check_as(Exit::Data, ratio.has_value(), node.text(), ": its ratio is no number");
  check_as(Exit::Data, *ratio >= 0 && *ratio < 1, node.text(), ": drops a share of ", *ratio);
  check_as(Exit::Data, node.outputs.size() < 2 || node.outputs[1].empty() || !state.is_read(node.outputs[1]),
           node.text(), ": its mask is read, which is not");
  state.give_like(node, {{"op", "dropout"}, {"p", *ratio}}, state.value(node, 0));
}

void import_identity(ImportState& state, const ReadNode& node) { state.give(node, state.value(node, 0)); }

/// Floats of any kind are the network's; what changes is whether numbers are whole, or truth values.
void import_cast(ImportState& state, const ReadNode& node) {
  const View& x = state.value(node, 0);
  const Type to = type_of_number(node.integer("to", 0), node.text());
  const Type ours = to == Type::i64                         ? Type::i32
                    : to == Type::boolean || to == Type::u8 ? Type::boolean
                    : to == Type::i32                       ? to
                                                            : Type::f32;
  const Type now = state.stated(x.layer).type;
  if (now == ours) return state.give(node, x);
  if (ours == Type::boolean) {  // whatever is not 0 is true
    View zero = x;
    zero.layer =
        state.add(node.outputs[0] + ".zero", {{"op", "equal"}, {"value", 0}}, {x.layer}, state.stated(x.layer));
    return state.give_like(node, {{"op", "logical_not"}}, zero, Type::boolean);
  }
  state.give_like(node, {{"op", "cast"}, {"dtype", ours == Type::i32 ? "i32" : "f32"}}, x, ours);
}

/// By a number: a x + b.
bool give_scaled(ImportState& state, const ReadNode& node, const View& x, double number, bool number_first) {
  double a = 1, b = 0;
  if (node.type == "Add" || node.type == "Sum")
    b = number;
  else if (node.type == "Sub")
    a = number_first ? -1 : 1, b = number_first ? number : -number;
  else if (node.type == "Mul")
    a = number;
  else if (node.type == "Div" && !number_first && number != 0)
    a = 1 / number;
  else
    return false;
  if (state.stated(x.layer).type != Type::f32) return false;
  Json entry = {{"op", "scale"}, {"a", a}};
  if (b != 0) entry["b"] = b;
  state.give_like(node, entry, x);
  return true;
}

bool give_by_number(ImportState& state, const ReadNode& node, const View& x, double number, bool number_first) {
  if (node.type == "Max" || node.type == "Min")
    return state.give_like(node, {{"op", "clip"}, {node.type == "Max" ? "min" : "max", number}}, x), true;
  if (node.type == "Pow" && !number_first) {
    Json entry = {{"op", "pow"}, {"exponent", number}};
    if (number == 2) entry = {{"op", "square"}};
    if (number == 0.5) entry = {{"op", "sqrt"}};
    return state.give_like(node, entry, x), true;
  }
  if (node.type == "Div" && number_first) {
    View inverse = x;
    inverse.layer = state.add(node.outputs[0] + ".inverse", {{"op", "reciprocal"}}, {x.layer}, state.stated(x.layer));
    return state.give_like(node, {{"op", "scale"}, {"a", number}}, inverse), true;
  }
  return give_scaled(state, node, x, number, number_first);
}

const std::map<std::string, const char*>& pair_names() {
  static const std::map<std::string, const char*> all = {
      {"Add", "add"}, {"Sub", "sub"}, {"Mul", "mul"}, {"Div", "div"},  {"Sum", "add"},
      {"Max", "max"}, {"Min", "min"}, {"Pow", "pow"}, {"Mean", "add"}, {"Mod", "mod"}};
  return all;
}

/// Of as many as there are, from the left.
void import_pair(ImportState& state, const ReadNode& node) {
  check_as(Exit::Data, !node.inputs.empty(), node.text(), ": of nothing");
  check_as(Exit::Data, node.type != "Mod" || node.integer("fmod", 0) == 1, node.text(),
           ": the remainder of whole numbers is not read");
  const char* const op = pair_names().at(node.type);
  const auto& in = node.inputs;
  if (in.size() == 1) return import_identity(state, node);
  if (in.size() == 2)
    for (const std::size_t of : {std::size_t{0}, std::size_t{1}})
      if (const auto number = state.constants.number(in[of]); number && state.maybe_value(node, 1 - of)) {
        const View& x = state.value(node, 1 - of);
        if (state.constant(node, of)->shape.size() <= x.axes.size() && give_by_number(state, node, x, *number, of == 0))
          return;
      }
  const bool is_mean = node.type == "Mean";
  ReadNode step = node;  // of two at a time
  for (std::size_t i = 1; i < in.size(); ++i) {
    step.inputs = {i == 1 ? in[0] : step.outputs[0], in[i]};
    step.outputs = {i + 1 < in.size() || is_mean ? node.outputs[0] + "." + std::to_string(i) : node.outputs[0]};
    give_pair(state, step, {{"op", op}}, operand(state, step, 0), operand(state, step, 1));
  }
  if (is_mean)
    state.give_like(node, {{"op", "scale"}, {"a", 1.0 / static_cast<double>(in.size())}}, state.made(step.outputs[0]));
}

void import_negation(ImportState& state, const ReadNode& node) {
  state.give_like(node, {{"op", "scale"}, {"a", -1}}, state.value(node, 0));
}

/// Truth values; "or equal" is that the opposite is not true, but for NaN.
void import_comparison(ImportState& state, const ReadNode& node) {
  static const std::map<std::string, std::pair<const char*, bool>> ours = {{"Greater", {"greater", false}},
                                                                           {"Less", {"less", false}},
                                                                           {"Equal", {"equal", false}},
                                                                           {"GreaterOrEqual", {"less", true}},
                                                                           {"LessOrEqual", {"greater", true}}};
  const auto [op, opposite] = ours.at(node.type);
  ReadNode first = node;
  if (opposite) first.outputs = {node.outputs[0] + ".not"};
  const auto number = state.constants.number(node.inputs.size() > 1 ? node.inputs[1] : "");
  if (number && state.maybe_value(node, 0))
    state.give_like(first, {{"op", op}, {"value", *number}}, state.value(node, 0), Type::boolean);
  else
    give_pair(state, first, {{"op", op}}, operand(state, node, 0), operand(state, node, 1), Type::boolean);
  if (opposite) state.give_like(node, {{"op", "logical_not"}}, state.made(first.outputs[0]), Type::boolean);
}

/// Whether all that reads a value broadcasts it.
bool is_broadcast_by_all(const ImportState& state, const std::string& name) {
  static const std::set<std::string> broadcast = {"Expand", "Where", "And", "Or", kFoundAttention};
  return std::ranges::all_of(state.readers(name), [&](const ReadNode* node) { return broadcast.contains(node->type); });
}

void import_logic(ImportState& state, const ReadNode& node) {
  if (node.type == "Not") return state.give_like(node, {{"op", "logical_not"}}, state.value(node, 0), Type::boolean);
  for (const std::size_t of : {std::size_t{0}, std::size_t{1}})
    if (const ReadTensor* const constant = state.constant(node, of)) {
      // What is true everywhere, or false, does not matter: exporters of masks begin with it.
      const View& x = state.value(node, 1 - of);
      const bool is_and = node.type == "And";
      const bool matters =
          std::ranges::any_of(Array::of(*constant).numbers, [&](double one) { return (one != 0) != is_and; });
      const bool fits = constant->shape.size() <= x.axes.size() &&
                        (broadcast_shape(constant->shape, state.shape(x)) == state.shape(x) ||
                         is_broadcast_by_all(state, node.outputs[0]));
      check_as(Exit::Data, !matters && fits, node.text(), ": with a constant ", text_of(constant->shape),
               " is not read");
      return state.give(node, x);
    }
  const char* const op = node.type == "And" ? "logical_and" : node.type == "Or" ? "logical_or" : "logical_xor";
  give_pair(state, node, {{"op", op}}, operand(state, node, 0), operand(state, node, 1), Type::boolean);
}

void import_concat(ImportState& state, const ReadNode& node) {
  std::vector<View> in;
  std::size_t rank = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (const View* const view = state.maybe_value(node, i)) rank = view->axes.size();
  for (std::size_t i = 0; i < node.inputs.size(); ++i) in.push_back(simplified(value_of(state, node, i, rank)));
  check_as(Exit::Data, !in.empty(), node.text(), ": of nothing");
  if (in.size() == 1) return state.give(node, in[0]);
  const std::size_t axis = axis_of(node, node.integer("axis", 1), in[0].axes.size());
  check_as(Exit::Data, !is_batch(in[0], axis), node.text(), ": along the batch is not read");
  Stated as = state.stated(in[0].layer);
  const bool are_images = std::ranges::all_of(in, [&](const View& view) {
    const Stated& of = state.stated(view.layer);
    return of.is_image && state.image_or_none(view) == view.layer;
  });
  const std::size_t first = state.in_samples() ? 1 : 0;
  check_as(Exit::Data, axis >= first, node.text(), ": along the batch is not read");
  std::vector<std::string> layers;
  Shape shape;
  for (const View& view : in) {
    layers.push_back(are_images ? view.layer : state.plain(node, view));
    const Shape mine = state.stated(layers.back()).shape;
    check_as(Exit::Data, shape.empty() || shape.size() == mine.size(), node.text(), ": of values of different axes");
    if (shape.empty())
      shape = mine;
    else
      shape[axis - first] += mine[axis - first];
  }
  const char* const image_axes[] = {"channels", "height", "width"};
  Json entry = {{"op", "concat"}};
  if (are_images)
    entry["axis"] = image_axes[axis - 1];
  else if (axis + 1 == in[0].axes.size())
    entry["axis"] = "channels";
  else
    entry["axis"] = axis - first;
  entry["name"] = state.name_of(node);
  const std::string made = state.add("", entry, layers, {shape, are_images, as.type});
  state.give(node, are_images ? image_view(made, shape) : state.of_plain(made, shape));
}

/// cond ? a : b, all in the model's order.
void import_where(ImportState& state, const ReadNode& node) {
  std::size_t rank = 0;
  for (std::size_t i = 0; i < 3; ++i)
    rank = std::max(rank,
                    state.constant(node, i) ? state.constant(node, i)->shape.size() : state.value(node, i).axes.size());
  std::vector<std::string> layers;
  const std::size_t first = state.in_samples() ? 1 : 0;
  check_as(Exit::Data, rank >= first, node.text(), ": of numbers alone");
  Shape shape(rank - first, 1);
  for (std::size_t i = 0; i < 3; ++i) {
    if (const ReadTensor* const tensor = state.constant(node, i)) {
      Shape own = tensor->shape;
      own.insert(own.begin(), rank - own.size(), 1);
      check_as(Exit::Data, first == 0 || own[0] == 1, node.text(), ": a constant is another for each sample");
      if (first == 1) own.erase(own.begin());
      const std::string made =
          state.parameter(node.outputs[0] + ".constant", "", {own}, Array::of(*tensor).as(Type::f32).floats());
      layers.push_back(
          i > 0 ? made
                : state.add(made + ".true", {{"op", "greater"}, {"value", 0.5}}, {made}, {own, false, Type::boolean}));
      shape = broadcast_shape(shape, own);
    } else {
      View view = state.value(node, i);
      check_as(Exit::Data, view.axes.size() == rank || first == 0, node.text(), ": of values of different axes");
      while (view.axes.size() < rank) view = with_one(view, 0);
      layers.push_back(state.plain(node, view));
      shape = broadcast_shape(shape, state.stated(layers.back()).shape);
    }
  }
  state.give_plain(node, {{"op", "where"}}, layers, shape);
}

}  // namespace

void add_elementwise_imports(ImportTable& table) {
  for (const auto& [type, ours] : pair_names()) table[type] = import_pair;
  table["Dropout"] = import_dropout;
  table["Identity"] = import_identity;
  table["Cast"] = import_cast;
  table["Neg"] = import_negation;
  for (const char* const type : {"Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual"})
    table[type] = import_comparison;
  for (const char* const type : {"Not", "And", "Or", "Xor"}) table[type] = import_logic;
  table["Where"] = import_where;
  table["Concat"] = import_concat;
}

}  // namespace lethe::onnx
