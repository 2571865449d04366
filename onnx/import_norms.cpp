// Norms, softmax, and what is folded over axes.
#include <algorithm>
#include <limits>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/import_folds.h"
#include "onnx/import_numbers.h"
#include "onnx/import_pair.h"
#include "onnx/import_tables.h"

namespace lethe::onnx {
namespace {

/// The weight of a norm, of one number for each element that is normed together.
std::vector<float> of_each(const ReadNode& node, const ReadTensor& weight, std::int64_t count, const char* what) {
  const Array all = broadcast({weight.shape, Array::of(weight).numbers}, weight.shape);
  check_as(Exit::Data, count_of(all.shape) == count, node.text(), ": its ", what, " is ", text_of(weight.shape),
           ", expected ", count, " numbers");
  return {all.numbers.begin(), all.numbers.end()};
}

/// The mean and 1 / sqrt(variance + eps) of what is normed together, where they are read.
void give_statistics(ImportState& state, const ReadNode& node, const View& x, std::size_t first) {
  const auto reads = [&](std::size_t output) {
    return output < node.outputs.size() && !node.outputs[output].empty() && state.is_read(node.outputs[output]);
  };
  if (!reads(1) && !reads(2)) return;
  check_as(Exit::Data, node.type == "LayerNormalization", node.text(), ": its output 1 is read, which is not");
  std::set<std::size_t> axes;
  for (std::size_t axis = first; axis < x.axes.size(); ++axis) axes.insert(axis);
  const std::string& name = node.outputs[0];
  const View mean = folded_over(state, node, x, axes, "mean", name + ".mean");
  if (reads(1)) state.give_named(node.outputs[1], mean);
  if (!reads(2)) return;
  ReadNode step = node;
  step.outputs = {name + ".less"};
  give_pair(state, step, {{"op", "sub"}}, {x}, {mean});
  const View variance = folded_over(state, node, like(state, "square", state.made(step.outputs[0]), name + ".squares"),
                                    axes, "mean", name + ".variance");
  View inverse = variance;
  inverse.layer = state.add(name + ".more", {{"op", "scale"}, {"b", as_written(node.number("epsilon", 1e-5F))}},
                            {variance.layer}, state.stated(variance.layer));
  state.give_named(node.outputs[2],
                   like(state, "reciprocal", like(state, "sqrt", inverse, name + ".deviation"), name + ".inverse"));
}

void import_layer_norm(ImportState& state, const ReadNode& node) {
  const View x = state.value(node, 0);
  const std::size_t axis = axis_of(node, node.integer("axis", -1), x.axes.size());
  check_as(Exit::Data, state.stated(x.layer).type == Type::f32, node.text(), ": of whole numbers");
  give_statistics(state, node, x, axis);
  if (!state.is_read(node.outputs[0])) return;
  const View rows = state.along(with_last_axes_joined(state, node, x, axis), axis);
  const std::int64_t count = size_of(rows, axis, state.batch());
  const ReadTensor& weight = state.needed(node, 1, "weight");
  const bool is_rms = node.type == "RMSNormalization", bias = node.inputs.size() > 2 && !node.inputs[2].empty();
  const std::string name = state.name_of(node);
  Json entry = {
      {"op", is_rms ? "rms_norm" : "layer_norm"}, {"name", name}, {"eps", as_written(node.number("epsilon", 1e-5F))}};
  if (!is_rms) entry["bias"] = bias;
  state.give_like(node, entry, rows);
  give_back_axes(state, node, x);
  state.add_weight(name + ".weight", {count}, of_each(node, weight, count, "weight"), node.inputs[1]);
  if (bias)
    state.add_weight(name + ".bias", {count}, of_each(node, state.needed(node, 2, "bias"), count, "bias"),
                     node.inputs[2]);
}

/// Groups of channels, over all that comes after them; with one channel each it is instance norm.
void import_group_norm(ImportState& state, const ReadNode& node) {
  const bool is_instance = node.type == "InstanceNormalization";
  const View& x = state.value(node, 0);
  check_as(Exit::Data, x.axes.size() >= 3 && is_batch(x, 0), node.text(), ": its input is ", state.text(x));
  const Shape of = state.shape(x);
  const std::int64_t channels = of[1];
  const std::int64_t groups = is_instance ? channels : node.integer("num_groups", 1);
  check_as(Exit::Data, groups >= 1 && channels % groups == 0, node.text(), ": ", groups, " groups of ", channels,
           " channels");
  std::optional<View> image =
      reshaped(x, {of[0], channels, of[2], count_of({of.begin() + 3, of.end()})}, state.batch());
  check_as(Exit::Data, image.has_value(), node.text(), ": of ", state.text(x), " is not read");
  const std::string layer = state.image(node, *image);
  const std::string name = state.name_of(node);
  Json entry = {{"op", is_instance ? "instance_norm" : "group_norm"},
                {"name", name},
                {"eps", as_written(node.number("epsilon", 1e-5F))}};
  if (!is_instance) entry["groups"] = groups;
  state.give_image(node, entry, layer, state.stated(layer).shape);
  give_back_axes(state, node, x);
  for (const auto& [input, ending] : {std::pair{std::size_t{1}, ".weight"}, {std::size_t{2}, ".bias"}}) {
    const ReadTensor& given = state.needed(node, input, "weight");
    std::vector<float> numbers = given.floats();
    // Before opset 21 there is one number a group.
    if (std::ssize(numbers) == groups && groups != channels) {
      std::vector<float> each;
      for (const float number : numbers) each.insert(each.end(), static_cast<std::size_t>(channels / groups), number);
      numbers = each;
    }
    check_as(Exit::Data, std::ssize(numbers) == channels, node.text(), ": a tensor of ", text_of(given.shape));
    state.add_weight(name + ending, {channels}, numbers,
                     std::ssize(given.floats()) == channels ? node.inputs[input] : "");
  }
}

void import_softmax(ImportState& state, const ReadNode& node) {
  const View x = state.value(node, 0);
  const bool before_13 = state.model.opset < 13;  // then all axes from that one on are one
  const std::size_t axis = axis_of(node, node.integer("axis", before_13 ? 1 : -1), x.axes.size());
  const View rows = state.along(before_13 ? with_last_axes_joined(state, node, x, axis) : x, axis);
  state.give_like(node, {{"op", node.type == "Softmax" ? "softmax" : "log_softmax"}}, rows);
  give_back_axes(state, node, x);
}

}  // namespace

void add_norm_imports(ImportTable& table) {
  table["LayerNormalization"] = table["RMSNormalization"] = import_layer_norm;
  table["GroupNormalization"] = table["InstanceNormalization"] = import_group_norm;
  table["Softmax"] = table["LogSoftmax"] = import_softmax;
}

}  // namespace lethe::onnx
