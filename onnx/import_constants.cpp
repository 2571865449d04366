// What is made of constants alone, and of the shapes of values: whole numbers that say how something is reshaped. An
// axis that is the batch is -1 there.
#include <algorithm>

#include "framework/error.h"
#include "onnx/bytes.h"
#include "onnx/import_state.h"

namespace lethe::onnx {
namespace {

constexpr std::int64_t kMostFilled = std::int64_t{1} << 32;  // bytes that a file's few numbers may become

ReadTensor integers(const Ints& values, bool is_scalar = false) {
  return {Type::i64, is_scalar ? Shape{} : Shape{std::ssize(values)}, bytes_of_values(values)};
}

void import_constant(ImportState& state, const ReadNode& node) {
  check_as(Exit::Data, node.has("value") || node.has("value_int") || node.has("value_ints"), node.text(),
           ": is of a form that is not read");
  if (node.has("value_int")) return state.fold(node, integers({node.integer("value_int", 0)}, true));
  if (node.has("value_ints")) return state.fold(node, integers(node.integers("value_ints", {})));
  const auto* const tensor = std::get_if<ReadTensor>(&node.attributes.at("value"));
  check_as(Exit::Data, tensor != nullptr, node.text(), ": its value is no tensor");
  state.fold(node, *tensor);
}

/// The same number everywhere, zero unless one is given.
void import_constant_of_shape(ImportState& state, const ReadNode& node) {
  const Shape shape = state.needed(node, 0, "shape").integers();
  ReadTensor one{Type::f32, {1}, std::vector<std::byte>(sizeof(float))};
  if (node.has("value")) {
    const auto* const given = std::get_if<ReadTensor>(&node.attributes.at("value"));
    check_as(Exit::Data, given && std::ssize(given->data) == bytes_of(given->type), node.text(),
             ": its value is no number");
    one = *given;
  }
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    check_as(Exit::Data, size >= 0 && size <= kMostFilled && (size == 0 || count <= kMostFilled / size), node.text(),
             ": of ", text_of(shape), " is too large");
    count *= size;
  }
  check_as(Exit::Data, count * bytes_of(one.type) <= kMostFilled, node.text(), ": of ", text_of(shape),
           " is too large");
  ReadTensor made{one.type, shape, {}};
  made.data.reserve(static_cast<std::size_t>(count) * one.data.size());
  for (std::int64_t i = 0; i < count; ++i) made.data.insert(made.data.end(), one.data.begin(), one.data.end());
  state.fold(node, std::move(made));
}

void import_shape_of(ImportState& state, const ReadNode& node) {
  check_as(Exit::Data, !node.has("start") && !node.has("end"), node.text(), ": of some axes is not read");
  const LayerValue x = state.value(node, 0);
  Ints sizes = {-1};
  sizes.insert(sizes.end(), x.shape.begin(), x.shape.end());
  sizes.insert(sizes.end(), static_cast<std::size_t>(x.ones), 1);
  state.fold(node, integers(sizes));
}

/// Axes that a node has as an attribute or as an input.
Ints axes_of(const ImportState& state, const ReadNode& node) {
  const ReadTensor* const given = state.optional_constant(node, 1);
  return given ? given->integers() : node.integers("axes", {});
}

/// Unsqueeze, of a constant; a value gets axes of size 1 after its own alone.
void import_unsqueeze(ImportState& state, const ReadNode& node) {
  Ints axes = axes_of(state, node);
  const ReadTensor* const tensor = state.constant(node, 0);
  const std::int64_t rank =
      (tensor ? std::ssize(tensor->shape) : std::ssize(state.value(node, 0).shape) + state.value(node, 0).ones + 1) +
      std::ssize(axes);
  for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::ranges::sort(axes);
  for (const std::int64_t axis : axes)
    check_as(Exit::Data, axis >= 0 && axis < rank && rank < 9, node.text(), ": an axis ", axis);
  if (tensor) {
    ReadTensor made = *tensor;
    for (const std::int64_t axis : axes) {
      check_as(Exit::Data, axis <= std::ssize(made.shape), node.text(), ": an axis ", axis);
      made.shape.insert(made.shape.begin() + axis, 1);
    }
    return state.fold(node, std::move(made));
  }
  LayerValue x = state.value(node, 0);
  check_as(Exit::Data, !axes.empty() && axes.front() == rank - std::ssize(axes) && x.shape.size() == 1, node.text(),
           ": of a value is not read");
  x.ones += static_cast<int>(axes.size());
  state.pass(node, x);
}

/// Of constants, whole numbers by an index.
void import_gather_numbers(ImportState& state, const ReadNode& node) {
  check_as(Exit::Data, state.needed(node, 0, "data").shape.size() == 1 && node.integer("axis", 0) == 0, node.text(),
           ": of numbers in several axes is not read");
  const Ints from = state.needed(node, 0, "data").integers();
  const ReadTensor& index = state.needed(node, 1, "index");
  Ints made;
  for (std::int64_t at : index.integers()) {
    at += at < 0 ? std::ssize(from) : 0;
    check_as(Exit::Data, at >= 0 && at < std::ssize(from), node.text(), ": an index ", at, " of ", from.size());
    made.push_back(from[static_cast<std::size_t>(at)]);
  }
  state.fold(node, integers(made, index.shape.empty()));
}

void import_concat_numbers(ImportState& state, const ReadNode& node) {
  Ints made;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    check_as(Exit::Data, state.needed(node, i, "part").shape.size() == 1, node.text(), ": of numbers in several axes");
    const Ints part = state.needed(node, i, "part").integers();
    made.insert(made.end(), part.begin(), part.end());
  }
  state.fold(node, integers(made));
}

/// Identity, or a Cast to another type of whole numbers, or of floats.
void import_same_numbers(ImportState& state, const ReadNode& node) {
  const ReadTensor& tensor = state.needed(node, 0, "input");
  const Type to = node.type == "Cast" ? type_of_number(node.integer("to", 0), node.text()) : tensor.type;
  const bool to_float = to == Type::f32 || to == Type::f64, to_whole = to == Type::i32 || to == Type::i64;
  check_as(Exit::Data, to == tensor.type || (to_float && tensor.is_float()) || (to_whole && tensor.is_integer()),
           node.text(), ": changes numbers to another type, which is not read");
  state.fold(node, tensor);
}

/// Of a constant with as many numbers.
void import_reshape_numbers(ImportState& state, const ReadNode& node) {
  ReadTensor made = state.needed(node, 0, "data");
  const Ints to = node.has("shape") ? node.integers("shape", {}) : state.needed(node, 1, "shape").integers();
  const auto count = std::ssize(made.data) / bytes_of(made.type);
  std::int64_t known = 1;
  for (const std::int64_t size : to) {
    check_as(Exit::Data, size == -1 || (size >= 1 && size <= count && known <= count / size), node.text(), ": makes ",
             text_of(to), " of ", count, " numbers");
    known *= size == -1 ? 1 : size;
  }
  made.shape = to;
  for (std::int64_t& size : made.shape)
    if (size == -1) size = count / known, known *= size;
  check_as(Exit::Data, known == count, node.text(), ": makes ", text_of(to), " of ", count, " numbers");
  state.fold(node, std::move(made));
}

}  // namespace

bool fold_constants(ImportState& state, const ReadNode& node) {
  static const std::map<std::string, ImportOp> folds = {{"Gather", import_gather_numbers},
                                                        {"Concat", import_concat_numbers},
                                                        {"Cast", import_same_numbers},
                                                        {"Identity", import_same_numbers},
                                                        {"Reshape", import_reshape_numbers}};
  const auto found = folds.find(node.type);
  if (found == folds.end() || node.inputs.empty()) return false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (!state.constant(node, i)) return false;
  if (node.type == "Gather" && !state.constant(node, 0)->is_integer()) return false;
  found->second(state, node);
  return true;
}

void add_constant_imports(ImportTable& table) {
  table["Constant"] = import_constant;
  table["ConstantOfShape"] = import_constant_of_shape;
  table["Shape"] = import_shape_of;
  table["Unsqueeze"] = import_unsqueeze;
}

}  // namespace lethe::onnx
