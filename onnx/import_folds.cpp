// What is folded over axes.
#include "onnx/import_folds.h"

#include <algorithm>
#include <limits>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/import_pair.h"
#include "onnx/import_tables.h"

namespace lethe::onnx {

View with_last_axes_joined(ImportState& state, const ReadNode& node, const View& x, std::size_t axis) {
  Shape shape = state.shape(x);
  const std::int64_t joined = count_of(Shape(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end()));
  shape.resize(axis);
  shape.push_back(joined);
  std::optional<View> made = reshaped(x, shape, state.batch());
  check_as(Exit::Data, made.has_value(), node.text(), ": of ", state.text(x), " is not read");
  return *made;
}

void give_back_axes(ImportState& state, const ReadNode& node, const View& x) {
  const Shape shape = state.shape(x);
  if (state.shape(state.made(node.outputs[0])) == shape) return;
  std::optional<View> made = reshaped(state.made(node.outputs[0]), shape, state.batch());
  check_as(Exit::Data, made.has_value(), node.text(), ": of ", state.text(x), " is not read");
  state.give(node, *made);
}

View like(ImportState& state, const std::string& op, View x, const std::string& name) {
  if (op.empty()) return x;
  x.layer = state.add(name, {{"op", op}}, {x.layer}, state.stated(x.layer));
  return x;
}

namespace {

/// What is done with each element, how they are folded, and what is done with the result.
struct Folded {
  const char *before, *op, *after;
};
const std::map<std::string, Folded>& folds_over_axes() {
  static const std::map<std::string, Folded> all = {{"ReduceSum", {"", "sum", ""}},
                                                    {"ReduceMean", {"", "mean", ""}},
                                                    {"ReduceMax", {"", "reduce_max", ""}},
                                                    {"ReduceMin", {"", "reduce_min", ""}},
                                                    {"ReduceProd", {"", "reduce_prod", ""}},
                                                    {"ReduceL1", {"abs", "sum", ""}},
                                                    {"ReduceL2", {"square", "sum", "sqrt"}},
                                                    {"ReduceLogSum", {"", "sum", "log"}},
                                                    {"ReduceSumSquare", {"square", "sum", ""}}};
  return all;
}

}  // namespace

View folded_over(ImportState& state, const ReadNode& node, const View& x, const std::set<std::size_t>& axes,
                 const std::string& op, const std::string& name) {
  const View seen = simplified(x);
  std::set<std::int64_t> gone;
  for (const std::size_t axis : axes)
    for (const std::int64_t part : seen.axes[axis]) {
      check_as(Exit::Data, part != kBatchAxis, node.text(), ": over the batch is not read");
      gone.insert(part);
    }
  if (gone.empty()) return seen;
  View made{"", {}, seen.axes};
  std::map<std::int64_t, std::int64_t> number = {{kBatchAxis, kBatchAxis}};
  for (std::int64_t part = 0; part < std::ssize(seen.memory); ++part)
    if (!gone.contains(part)) {
      number[part] = std::ssize(made.memory);
      made.memory.push_back(seen.memory[static_cast<std::size_t>(part)]);
    }
  for (Ints& parts : made.axes) {
    std::erase_if(parts, [&](std::int64_t part) { return gone.contains(part); });
    for (std::int64_t& part : parts) part = number[part];
  }
  const bool is_plane = op == "mean" && axes == std::set<std::size_t>{2, 3} && !state.image_or_none(x).empty();
  Json entry = {{"op", is_plane ? "global_avg_pool" : op}};
  if (!is_plane) entry["axes"] = gone;
  made.layer = state.add(name, entry, {is_plane ? x.layer : state.restated(seen, {seen.memory})}, {made.memory});
  return made;
}

namespace {

void import_reduce(ImportState& state, const ReadNode& node) {
  const View x = state.value(node, 0);
  const Ints given = state.integers(node, 1, "axes");
  if (given.empty() && node.integer("noop_with_empty_axes", 0) != 0) {
    // Nothing is folded, but each element is still what a sum of one is.
    const Folded& how = folds_over_axes().at(node.type == "ReduceLogSumExp" ? "ReduceSum" : node.type);
    return state.give(node,
                      like(state, how.after, like(state, how.before, x, node.outputs[0] + ".each"), node.outputs[0]));
  }
  std::set<std::size_t> axes;
  for (const std::int64_t axis : given) axes.insert(axis_of(node, axis, x.axes.size()));
  for (std::size_t axis = 0; given.empty() && axis < x.axes.size(); ++axis) axes.insert(axis);
  const std::string& name = node.outputs[0];
  View made;
  if (node.type == "ReduceLogSumExp") {
    // max + log(sum(exp(x - max))): without overflow.
    View most = folded_over(state, node, x, axes, "reduce_max", name + ".most");
    ReadNode step = node;
    step.outputs = {name + ".less"};
    give_pair(state, step, {{"op", "sub"}}, {x}, {most});
    View sum = like(state, "exp", state.made(step.outputs[0]), name + ".exp");
    sum = like(state, "log", folded_over(state, node, sum, axes, "sum", name + ".sum"), name + ".log");
    step.outputs = {name + ".all"};
    give_pair(state, step, {{"op", "add"}}, {sum}, {most});
    made = state.made(step.outputs[0]);
  } else {
    const Folded& how = folds_over_axes().at(node.type);
    made = folded_over(state, node, like(state, how.before, x, name + ".each"), axes, how.op,
                       *how.after ? name + ".sum" : name);
    made = like(state, how.after, made, name);
  }
  if (node.integer("keepdims", 1) == 0)
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
      made = without_one(made, static_cast<std::int64_t>(*axis));
  state.give(node, made);
}

/// x / sqrt(sum of x^2), or by the sum of magnitudes.
void import_lp_norm(ImportState& state, const ReadNode& node) {
  const View x = state.value(node, 0);
  const std::int64_t p = node.integer("p", 2);
  check_as(Exit::Data, p == 1 || p == 2, node.text(), ": of p ", p);
  const std::size_t axis = axis_of(node, node.integer("axis", -1), x.axes.size());
  const std::string& name = node.outputs[0];
  View sum =
      folded_over(state, node, like(state, p == 1 ? "abs" : "square", x, name + ".each"), {axis}, "sum", name + ".sum");
  if (p == 2) sum = like(state, "sqrt", sum, name + ".norm");
  View norm = sum;  // of zeros it is 0, and so is the result
  norm.layer = state.add(name + ".above", {{"op", "clip"}, {"min", std::numeric_limits<float>::min()}}, {sum.layer},
                         state.stated(sum.layer));
  give_pair(state, node, {{"op", "div"}}, {x}, {norm});
}

View raised(ImportState& state, const View& x, double exponent, const std::string& name) {
  View made = x;
  made.layer = state.add(name, {{"op", "pow"}, {"exponent", exponent}}, {x.layer}, state.stated(x.layer));
  return made;
}

/// (sum of |x|^p of each window)^(1/p), by the mean that counts pads.
void import_lp_pool(ImportState& state, const ReadNode& node) {
  const auto p = static_cast<double>(node.integer("p", 2));
  check_as(Exit::Data, p >= 1 && node.integer("ceil_mode", 0) == 0, node.text(), ": of p ", p, ", or with ceil_mode");
  const std::string& name = node.outputs[0];
  double count = 1;
  for (const std::int64_t size : node.integers("kernel_shape", {})) count *= static_cast<double>(size);
  const View sizes = like(state, "abs", state.value(node, 0), name + ".abs");
  state.give_named(name + ".each", p == 1 ? sizes : raised(state, sizes, p, name + ".each"));
  ReadNode mean = node;
  mean.type = "AveragePool", mean.inputs = {name + ".each"}, mean.outputs = {name + ".mean"};
  mean.attributes["count_include_pad"] = std::int64_t{1};
  import_by_type(state, mean);
  ReadNode sum = node;
  sum.outputs = {p == 1 ? name : name + ".sum"};
  state.give_like(sum, {{"op", "scale"}, {"a", count}}, state.made(mean.outputs[0]));
  if (p != 1) state.give(node, raised(state, state.made(sum.outputs[0]), 1 / p, name));
}

/// 1 at the first of the largest, 0 elsewhere.
void import_hardmax(ImportState& state, const ReadNode& node) {
  const View given = state.value(node, 0);
  const bool before_13 = state.model.opset < 13;
  const std::size_t axis = axis_of(node, node.integer("axis", before_13 ? 1 : -1), given.axes.size());
  const View x = state.along(before_13 ? with_last_axes_joined(state, node, given, axis) : given, axis);
  const std::string& name = node.outputs[0];
  ReadNode step = node;
  step.outputs = {name + ".is_most"};
  give_pair(state, step, {{"op", "equal"}}, {x}, {folded_over(state, node, x, {axis}, "reduce_max", name + ".most")},
            Type::boolean);
  View most = state.made(step.outputs[0]);
  step.outputs = {name + ".numbers"};
  state.give_like(step, {{"op", "cast"}, {"dtype", "f32"}}, most);
  // Of several that are the largest, the one before which there is none.
  most = state.along(state.made(step.outputs[0]), axis);
  step.outputs = {name + ".before"};
  state.give_like(step, {{"op", "cumsum"}, {"axis", "channels"}, {"exclusive", true}}, most);
  step.outputs = {name + ".none"};
  state.give_like(step, {{"op", "less"}, {"value", 0.5}}, state.made(name + ".before"), Type::boolean);
  step.outputs = {name + ".first"};
  state.give_like(step, {{"op", "cast"}, {"dtype", "f32"}}, state.made(name + ".none"));
  give_pair(state, node, {{"op", "mul"}}, {most}, {state.made(name + ".first")});
  give_back_axes(state, node, given);
}

void import_running_sum(ImportState& state, const ReadNode& node) {
  const View x = state.value(node, 0);
  const auto given = state.constants.number(node.inputs.size() > 1 ? node.inputs[1] : "");
  check_as(Exit::Data, given.has_value(), node.text(), ": its axis is no constant");
  const View rows = state.along(x, axis_of(node, static_cast<std::int64_t>(*given), x.axes.size()));
  Json entry = {{"op", "cumsum"}, {"axis", "channels"}};
  if (node.integer("exclusive", 0) != 0) entry["exclusive"] = true;
  if (node.integer("reverse", 0) != 0) entry["reverse"] = true;
  state.give_like(node, entry, rows);
}

void import_global_max_pool(ImportState& state, const ReadNode& node) {
  const View& x = state.value(node, 0);
  std::set<std::size_t> axes;
  for (std::size_t axis = 2; axis < x.axes.size(); ++axis) axes.insert(axis);
  state.give(node, folded_over(state, node, x, axes, "reduce_max", node.outputs[0]));
}

}  // namespace

void add_fold_imports(ImportTable& table) {
  table["LpNormalization"] = import_lp_norm;
  for (const auto& [type, how] : folds_over_axes()) table[type] = import_reduce;
  table["ReduceLogSumExp"] = import_reduce;
  table["Hardmax"] = import_hardmax;
  table["LpPool"] = import_lp_pool;
  table["CumSum"] = import_running_sum;
  table["GlobalMaxPool"] = import_global_max_pool;
}

}  // namespace lethe::onnx
