// Products of matrices.
#include <algorithm>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/import_numbers.h"
#include "onnx/import_tables.h"

namespace lethe::onnx {
namespace {

/// [rows, columns] to [columns, rows].
std::vector<float> other_way(const ReadTensor& matrix) { return turned(matrix, {1, 0}).floats(); }

void scale_by(std::vector<float>& values, float factor) {
  for (float& value : values) value *= factor;
}

/// The numbers of a bias of so many outputs, which may have axes of size 1 before, or be one for all.
std::vector<float> bias_of(const ReadNode& node, const ReadTensor& bias, std::int64_t outputs) {
  if (count_of(bias.shape) == 1) return std::vector<float>(static_cast<std::size_t>(outputs), bias.floats().at(0));
  check_as(Exit::Data, count_of(bias.shape) == outputs && !bias.shape.empty() && bias.shape.back() == outputs,
           node.text(), ": its bias is ", text_of(bias.shape), ", expected ", outputs, " numbers");
  return bias.floats();
}

/// A bias that may be given, by its name in the file.
struct Bias {
  const ReadTensor* tensor = nullptr;
  std::string name = {};
  float factor = 1;
};

/// The model's last axis through a matrix of the file, [outputs, inputs] if `turned`, else [inputs, outputs].
void give_linear(ImportState& state, const ReadNode& node, const View& x, const std::string& weight, bool turned,
                 float factor, const Bias& bias) {
  const ReadTensor& matrix = *state.constants.find(weight);
  const std::size_t last = x.axes.size() - 1;
  check_as(Exit::Data, matrix.shape.size() == 2 && matrix.is_float(), node.text(), ": its weight is ",
           text_of(matrix.shape));
  const std::int64_t inputs = matrix.shape[turned ? 1 : 0], outputs = matrix.shape[turned ? 0 : 1];
  check_as(Exit::Data, state.stated(x.layer).type == Type::f32, node.text(), ": of numbers that are no floats");
  check_as(Exit::Data, size_of(x, last, state.batch()) == inputs, node.text(), ": its input is ", state.text(x),
           ", its weight ", text_of(matrix.shape));
  const std::string name = state.name_of(node);
  Json entry = {{"op", "fc"}, {"name", name}, {"out", outputs}, {"bias", bias.tensor != nullptr}};
  // An image that was flattened is taken as it is: weights of products know of its order.
  const Stated& now = state.stated(x.layer);
  View flat{x.layer, {}, {}};
  if (now.is_image)
    if (const auto rows = reshaped(image_view(x.layer, now.shape), {state.batch(), inputs}, state.batch()))
      flat = *rows;
  const View seen = simplified(x);
  if (x.axes.size() == 2 && seen.memory == flat.memory && seen.axes == flat.axes) {
    View made{state.add("", entry, {x.layer}, {{outputs}}), {outputs}, {{kBatchAxis}, {0}}};
    state.give(node, made);
  } else {
    View rows = state.along(x, last);
    Stated as = state.stated(rows.layer);
    (as.is_image ? as.shape.front() : as.shape.back()) = outputs;
    if (as.shape.size() > 1) entry["flatten"] = false;
    rows.layer = state.add("", entry, {rows.layer}, as);
    rows.memory.resize(rows.memory.size() - rows.axes[last].size());
    rows.axes[last] = {std::ssize(rows.memory)};
    rows.memory.push_back(outputs);
    state.give(node, rows);
  }
  std::vector<float> values = turned ? matrix.floats() : other_way(matrix);
  scale_by(values, factor);
  state.add_weight(name + ".weight", {outputs, inputs}, std::move(values), factor == 1 ? weight : "", !turned);
  if (!bias.tensor) return;
  std::vector<float> numbers = bias_of(node, *bias.tensor, outputs);
  scale_by(numbers, bias.factor);
  state.add_weight(name + ".bias", {outputs}, std::move(numbers), bias.factor == 1 ? bias.name : "");
}

/// y = alpha x w + beta bias, w [inputs, outputs], or with transB [outputs, inputs]
void import_gemm(ImportState& state, const ReadNode& node) {
  View x = state.value(node, 0);
  check_as(Exit::Data, x.axes.size() == 2, node.text(), ": its input is ", state.text(x), ", expected a matrix");
  if (node.integer("transA", 0) != 0) x = transposed(x, {1, 0});
  state.needed(node, 1, "weight");
  Bias bias;
  if (node.inputs.size() > 2 && !node.inputs[2].empty())
    bias = {&state.needed(node, 2, "bias"), node.inputs[2], node.number("beta", 1)};
  give_linear(state, node, x, node.inputs[1], node.integer("transB", 0) != 0, node.number("alpha", 1), bias);
}

/// The Add of a constant row that alone reads this product.
const ReadNode* added_after(const ImportState& state, const ReadNode& node, std::int64_t outputs, Bias& bias) {
  const ReadNode* const after = state.only_reader(node.outputs.at(0));
  if (!after || after->type != "Add") return nullptr;
  for (std::size_t i = 0; i < 2; ++i)
    if (const ReadTensor* const tensor = state.constant(*after, i); tensor && tensor->shape == Shape{outputs})
      bias = {tensor, after->inputs[i]};
  return bias.tensor ? after : nullptr;
}

/// A stack of matrices for a product: whether the last two axes lie the other way round in memory.
struct Factor {
  std::string layer;
  Shape shape;  // of a sample, as the layer states it
  bool transposed = false;
};

Factor factor_of(ImportState& state, const ReadNode& node, View view, std::size_t rank, bool may_turn) {
  check_as(Exit::Data, view.axes.size() == rank || !state.in_samples(), node.text(), ": of ", state.text(view),
           " and a value of ", rank, " axes");
  while (view.axes.size() < rank) view = with_one(view, 0);
  Ints swapped(rank);
  for (std::size_t i = 0; i < rank; ++i) swapped[i] = static_cast<std::int64_t>(i);
  std::swap(swapped[rank - 1], swapped[rank - 2]);
  const View other = transposed(view, swapped);
  const bool turns = may_turn && is_in_order(order_of(simplified(other))) && !is_in_order(order_of(simplified(view)));
  Factor factor{state.plain(node, turns ? other : view), {}, turns};
  factor.shape = state.stated(factor.layer).shape;
  return factor;
}

/// Of two values. Stacks of which one has size 1 along an axis are expanded.
void give_product(ImportState& state, const ReadNode& node, const View& a, const View& b) {
  const std::size_t rank = std::max(a.axes.size(), b.axes.size());
  check_as(Exit::Data, std::min(a.axes.size(), b.axes.size()) >= 2 && rank >= (state.in_samples() ? 3U : 2U),
           node.text(), ": of ", state.text(a), " and ", state.text(b), " is not read");
  Factor left = factor_of(state, node, a, rank, true), right = factor_of(state, node, b, rank, true);
  const std::size_t stack = left.shape.size() - 2;
  const Shape of_left(left.shape.begin(), left.shape.begin() + static_cast<std::ptrdiff_t>(stack)),
      of_right(right.shape.begin(), right.shape.begin() + static_cast<std::ptrdiff_t>(stack));
  Shape sample = broadcast_shape(of_left, of_right);
  for (Factor* const factor : {&left, &right}) {
    Shape to = sample;
    to.insert(to.end(), factor->shape.end() - 2, factor->shape.end());
    if (to == factor->shape) continue;
    Json entry = {{"op", "expand"}, {"shape", to}};
    if (to.size() == 3) entry["layout"] = "plain";
    factor->layer = state.add(factor->layer + ".each", entry, {factor->layer}, {to});
  }
  sample.push_back(left.shape[stack + (left.transposed ? 1 : 0)]);
  sample.push_back(right.shape[stack + (right.transposed ? 0 : 1)]);
  check_as(Exit::Data, left.shape[stack + (left.transposed ? 0 : 1)] == right.shape[stack + (right.transposed ? 1 : 0)],
           node.text(), ": of ", state.text(a), " and ", state.text(b));
  Json entry = {{"op", "matmul"}};
  if (left.transposed) entry["transpose_a"] = true;
  if (right.transposed) entry["transpose_b"] = true;
  state.give_plain(node, entry, {left.layer, right.layer}, sample);
}

void give_product_of(ImportState& state, const ReadNode& node) {
  std::size_t rank = 0;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    rank = std::max(rank,
                    state.constant(node, i) ? state.constant(node, i)->shape.size() : state.value(node, i).axes.size());
  const View a = value_of(state, node, 0, rank), b = value_of(state, node, 1, rank);
  give_product(state, node, a, b);
}

void import_matmul(ImportState& state, const ReadNode& node) {
  const View* const x = state.maybe_value(node, 0);
  const ReadTensor* const weight = state.constant(node, 1);
  if (!x || !weight || weight->shape.size() != 2 || x->axes.size() < 2) return give_product_of(state, node);
  Bias bias;
  const ReadNode* const after = added_after(state, node, weight->shape[1], bias);
  give_linear(state, node, *x, node.inputs[1], false, 1, bias);
  if (!after) return;
  state.give(*after, state.made(node.outputs.at(0)));
  state.take(*after);
}

}  // namespace

View value_of(ImportState& state, const ReadNode& node, std::size_t input, std::size_t rank) {
  const ReadTensor* const tensor = state.constant(node, input);
  if (!tensor) return state.value(node, input);
  Shape shape = tensor->shape;
  shape.insert(shape.begin(), rank - std::min(rank, shape.size()), 1);
  if (state.in_samples()) {
    check_as(Exit::Data, !shape.empty() && shape[0] == 1, node.text(), ": a constant ", text_of(shape),
             " is another for each sample");
    shape.erase(shape.begin());
  }
  const std::string made = state.parameter(node.outputs[0] + ".constant", node.inputs[input], {shape},
                                           Array::of(*tensor).as(Type::f32).floats(), state.in_samples());
  return state.of_plain(made, shape);
}

void add_matrix_imports(ImportTable& table) {
  table["Gemm"] = import_gemm;
  table["MatMul"] = import_matmul;
}

}  // namespace lethe::onnx
