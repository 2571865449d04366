// Products of matrices, and what changes shapes.
#include <algorithm>

#include "framework/checked.h"
#include "framework/error.h"
#include "onnx/import_numbers.h"
#include "onnx/import_state.h"

namespace lethe::onnx {
namespace {

std::int64_t count_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count = checked_mul(count, size, "a number of elements");
  return count;
}

/// [rows, columns] to [columns, rows].
std::vector<float> transposed(const std::vector<float>& values, std::int64_t rows, std::int64_t columns) {
  std::vector<float> turned(values.size());
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      turned[static_cast<std::size_t>(c * rows + r)] = values[static_cast<std::size_t>(r * columns + c)];
  return turned;
}

void scale_by(std::vector<float>& values, float factor) {
  for (float& value : values) value *= factor;
}

/// The numbers of a bias of so many outputs, which may have axes of size 1 before.
std::vector<float> bias_of(const ReadNode& node, const ReadTensor& bias, std::int64_t outputs) {
  check_as(Exit::Data, count_of(bias.shape) == outputs && !bias.shape.empty() && bias.shape.back() == outputs,
           node.text(), ": its bias is ", text_of(bias.shape), ", expected ", outputs, " numbers");
  return bias.floats();
}

/// y = alpha x w + beta bias, w [inputs, outputs], or with transB [outputs, inputs]
void import_gemm(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.value(node, 0);
  const ReadTensor& weight = state.needed(node, 1, "weight");
  const bool turned = node.integer("transB", 0) != 0;
  check_as(Exit::Data, weight.shape.size() == 2 && node.integer("transA", 0) == 0, node.text(),
           ": is of a form that is not read");
  const std::int64_t inputs = weight.shape[turned ? 1 : 0], outputs = weight.shape[turned ? 0 : 1];
  check_as(Exit::Data, x.shape == Shape{inputs}, node.text(), ": its input is ", text_of(x.shape),
           " a sample, its weight ", text_of(weight.shape));
  std::vector<float> values = turned ? weight.floats() : transposed(weight.floats(), inputs, outputs);
  scale_by(values, node.number("alpha", 1));
  const bool has_bias = node.inputs.size() > 2 && !node.inputs[2].empty();
  const std::string name = state.name_of(node);
  state.give(node, {{"op", "fc"}, {"name", name}, {"out", outputs}, {"bias", has_bias}}, {x}, {outputs});
  state.add_weight(name + ".weight", {outputs, inputs}, std::move(values));
  if (!has_bias) return;
  std::vector<float> bias = bias_of(node, state.needed(node, 2, "bias"), outputs);
  scale_by(bias, node.number("beta", 1));
  state.add_weight(name + ".bias", {outputs}, std::move(bias));
}

/// By a constant, with the Add of a constant that alone reads it.
void import_matmul(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.value(node, 0);
  const ReadTensor& weight = state.needed(node, 1, "second factor");
  check_as(Exit::Data, weight.shape.size() == 2 && !x.shape.empty() && x.shape.back() == weight.shape[0] && x.ones == 0,
           node.text(), ": its input is ", text_of(x.shape), " a sample, its weight ", text_of(weight.shape));
  check_as(Exit::Data, x.shape.size() < 3, node.text(), ": of images is not read");
  const std::int64_t inputs = weight.shape[0], outputs = weight.shape[1];
  const ReadNode* const after = state.only_reader(node.outputs.at(0));
  const ReadTensor* bias = nullptr;
  if (after && after->type == "Add")
    for (std::size_t i = 0; i < 2; ++i)
      if (const ReadTensor* const tensor = state.constant(*after, i); tensor && tensor->shape == Shape{outputs})
        bias = tensor;
  const std::string name = state.name_of(node);
  Shape shape = x.shape;
  shape.back() = outputs;
  Json entry = {{"op", "fc"}, {"name", name}, {"out", outputs}, {"bias", bias != nullptr}};
  if (x.shape.size() > 1) entry["flatten"] = false;
  state.give(node, entry, {x}, shape);
  state.add_weight(name + ".weight", {outputs, inputs}, transposed(weight.floats(), inputs, outputs));
  if (!bias) return;
  state.add_weight(name + ".bias", {outputs}, bias->floats());
  state.pass(*after, state.made(node.outputs.at(0)));
  state.take(*after);
}

/// Each sample as one row: nothing if it is one. Rows of an image are in another order here, which products know of.
void flatten_value(ImportState& state, const ReadNode& node, const LayerValue& x) {
  if (x.shape.size() == 1) return state.pass(node, {x.layer, x.shape});
  const bool same_order =
      x.shape.size() == 2 || (x.shape.size() == 3 && (x.shape[0] == 1 || x.shape[1] * x.shape[2] == 1));
  check_as(Exit::Data, same_order || state.is_for_products(node.outputs.at(0)), node.text(), ": makes rows of images ",
           text_of(x.shape), ", and something else than Gemm or MatMul reads them");
  state.give(node, {{"op", "flatten"}}, {x}, {count_of(x.shape)});
}

void import_flatten(ImportState& state, const ReadNode& node) {
  check_as(Exit::Data, node.integer("axis", 1) == 1, node.text(), ": an axis but the first is not read");
  flatten_value(state, node, state.value(node, 0));
}

/// Channels of G groups in turn: Reshape to [N, G, C / G, H, W], Transpose of the two, Reshape back.
bool shuffle_channels(ImportState& state, const ReadNode& node, const LayerValue& x, const Ints& to) {
  if (x.shape.size() != 3 || to.size() != 5 || to[1] < 1 || to[1] > x.shape[0] || to[2] < 1 || to[2] > x.shape[0] ||
      x.shape[0] != to[1] * to[2] || to[3] != x.shape[1] || to[4] != x.shape[2])
    return false;
  const ReadNode* const turn = state.only_reader(node.outputs.at(0));
  if (!turn || turn->type != "Transpose" || turn->integers("perm", {}) != Ints{0, 2, 1, 3, 4}) return false;
  const ReadNode* const back = state.only_reader(turn->outputs.at(0));
  if (!back || back->type != "Reshape") return false;
  const ReadTensor* const shape = state.constant(*back, 1);
  if (!shape || !shape->is_integer() || shape->shape != Shape{4}) return false;
  const Ints again = shape->integers();
  for (std::size_t i = 0; i < 3; ++i)
    if (again[1 + i] != x.shape[i] && again[1 + i] != -1) return false;
  const std::string name = state.name_of(*back);
  const Shape apart = {x.shape[1], x.shape[2], to[1], to[2]}, turned = {x.shape[1], x.shape[2], to[2], to[1]};
  LayerValue value = state.add(name + ".apart", {{"op", "reshape"}, {"shape", apart}}, {x}, apart);
  value = state.add(name + ".turned", {{"op", "transpose"}, {"perm", {0, 1, 3, 2}}}, {value}, turned);
  state.give(*back, {{"op", "reshape"}, {"name", name}, {"shape", x.shape}, {"layout", "image"}}, {value}, x.shape);
  state.take(*turn), state.take(*back);
  return true;
}

void import_reshape(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.value(node, 0);
  const ReadTensor* const given = state.optional_constant(node, 1);
  const Ints to = given ? given->integers() : node.integers("shape", {});
  check_as(Exit::Data, state.begins_with_batch(to) && node.integer("allowzero", 0) == 0, node.text(),
           ": its shape is no constant of the file that begins with the batch");
  if (to.size() == 2) {
    const std::int64_t columns = to[1] == 0 ? x.shape.at(0) : to[1];
    check_as(Exit::Data, columns == -1 || columns == count_of(x.shape), node.text(), ": makes rows of ", columns,
             " numbers of samples of ", count_of(x.shape));
    return flatten_value(state, node, x);
  }
  const bool is_pixel =
      x.shape.size() == 1 && to.size() == 4 && (to[1] == -1 || to[1] == x.shape[0]) && to[2] == 1 && to[3] == 1;
  if (is_pixel) return state.pass(node, {x.layer, x.shape, 2});
  check_as(Exit::Data, shuffle_channels(state, node, x, to), node.text(), ": a shape ", text_of(to), " of samples ",
           text_of(x.shape), " is not read");
}

/// Of axes of size 1 that a global pool left.
void import_squeeze(ImportState& state, const ReadNode& node) {
  LayerValue x = state.value(node, 0);
  const ReadTensor* const given = state.optional_constant(node, 1);
  const Ints axes = given ? given->integers() : node.integers("axes", {});
  const std::int64_t rank = std::ssize(x.shape) + 1 + x.ones;
  bool are_ones = x.ones > 0 && std::ssize(axes) <= x.ones && !axes.empty();
  for (const std::int64_t axis : axes)
    are_ones = are_ones && axis < rank && (axis < 0 ? axis + rank : axis) >= rank - x.ones;
  check_as(Exit::Data, are_ones, node.text(), ": of ", text_of(x.shape), " is not read");
  x.ones -= static_cast<int>(axes.size());
  state.pass(node, x);
}

void import_layer_norm(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.value(node, 0);
  const std::int64_t axis = node.integer("axis", -1);
  check_as(Exit::Data, (axis == -1 || axis == std::ssize(x.shape)) && x.ones == 0 && x.shape.size() < 3, node.text(),
           ": of another axis than the last of [T,C] is not read");
  const ReadTensor& weight = state.needed(node, 1, "weight");
  check_as(Exit::Data, weight.shape == Shape{x.shape.back()}, node.text(), ": its weight is ", text_of(weight.shape));
  const bool is_rms = node.type == "RMSNormalization", bias = node.inputs.size() > 2 && !node.inputs[2].empty();
  const std::string name = state.name_of(node);
  Json entry = {
      {"op", is_rms ? "rms_norm" : "layer_norm"}, {"name", name}, {"eps", as_written(node.number("epsilon", 1e-5F))}};
  if (!is_rms) entry["bias"] = bias;
  state.give(node, entry, {x}, x.shape);
  state.add_weight(name + ".weight", weight.shape, weight.floats());
  if (bias)
    state.add_weight(name + ".bias", weight.shape, bias_of(node, state.needed(node, 2, "bias"), weight.shape.back()));
}

void import_softmax(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.value(node, 0);
  const std::int64_t axis = node.integer("axis", state.model.opset < 13 ? 1 : -1);
  const std::int64_t last = std::ssize(x.shape);
  const bool is_last = x.shape.size() < 3 && (axis == last || (axis == -1 && x.ones == 0)),
             is_channels = x.shape.size() == 3 && axis == 1 && state.model.opset >= 13;
  check_as(Exit::Data, is_last || is_channels, node.text(), ": along another axis than the last is not read");
  state.give(node, {{"op", node.type == "Softmax" ? "softmax" : "log_softmax"}}, {x}, x.shape, x.ones);
}

/// Rows of a constant table.
void import_gather(ImportState& state, const ReadNode& node) {
  const ReadTensor& table = state.needed(node, 0, "table");
  const LayerValue ids = state.value(node, 1);
  check_as(Exit::Data, table.shape.size() == 2 && node.integer("axis", 0) == 0 && ids.ones == 0, node.text(),
           ": is no look-up of rows");
  const std::string name = state.name_of(node);
  Shape shape = ids.shape;
  shape.push_back(table.shape[1]);
  state.give(node, {{"op", "embedding"}, {"name", name}, {"out", table.shape[1]}, {"vocab", table.shape[0]}}, {ids},
             shape);
  state.add_weight(name + ".weight", table.shape, table.floats());
}

void import_attention(ImportState& state, const ReadNode& node) {
  check_as(Exit::Data, node.inputs.size() == 3 && node.outputs.size() == 1 && node.number("softcap", 0) == 0,
           node.text(), ": with a mask, a cache or a cap is not read");
  const LayerValue q = state.value(node, 0), k = state.value(node, 1), v = state.value(node, 2);
  const std::int64_t heads = node.integer("q_num_heads", 0), groups = node.integer("kv_num_heads", 0);
  const bool fits = q.shape.size() == 2 && k.shape.size() == 2 && k.shape == v.shape && heads >= 1 && groups >= 1 &&
                    heads % groups == 0 && q.shape[1] % heads == 0 && k.shape[1] == q.shape[1] / heads * groups;
  check_as(Exit::Data, fits, node.text(), ": its inputs are no [T,width] of its heads");
  Json entry = {
      {"op", "attention"}, {"heads", heads}, {"kv_heads", groups}, {"causal", node.integer("is_causal", 0) != 0}};
  check_as(Exit::Data, !entry["causal"].get<bool>() || q.shape[0] == k.shape[0], node.text(),
           ": causal, of fewer rows than keys");
  if (node.has("scale")) entry["scale"] = as_written(node.number("scale", 1));
  state.give(node, entry, {q, k, v}, q.shape);
}

/// Some of the last axis of [T, C].
void import_slice(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.value(node, 0);
  if (import_thinning(state, node)) return;
  const auto one = [&](std::size_t input, std::int64_t absent) {
    const ReadTensor* const given = state.optional_constant(node, input);
    if (!given) return absent;
    const Ints values = given->integers();
    check_as(Exit::Data, values.size() == 1, node.text(), ": of several axes is not read");
    return values[0];
  };
  const std::int64_t axis = one(3, 0), last = std::ssize(x.shape), size = x.shape.back();
  const std::int64_t begin = one(1, 0), end = std::min(one(2, size), size);
  check_as(
      Exit::Data,
      (axis == -1 || axis == last) && one(4, 1) == 1 && begin >= 0 && begin < end && x.shape.size() < 3 && x.ones == 0,
      node.text(), ": but of some channels of [T,C] is not read");
  Shape shape = x.shape;
  shape.back() = end - begin;
  state.give(node, {{"op", "slice"}, {"axis", "channels"}, {"begin", begin}, {"end", end}}, {x}, shape);
}

}  // namespace

void add_matrix_imports(ImportTable& table) {
  table["Gemm"] = import_gemm;
  table["MatMul"] = import_matmul;
  table["Flatten"] = import_flatten;
  table["Reshape"] = import_reshape;
  table["Squeeze"] = import_squeeze;
  table["LayerNormalization"] = table["RMSNormalization"] = import_layer_norm;
  table["Softmax"] = table["LogSoftmax"] = import_softmax;
  table["Gather"] = import_gather;
  table["Attention"] = import_attention;
  table["Slice"] = import_slice;
}

}  // namespace lethe::onnx
