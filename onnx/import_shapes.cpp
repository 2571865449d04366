// What changes how values are read, or takes parts of them.
#include <algorithm>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/bytes.h"
#include "onnx/fold.h"
#include "onnx/import_tables.h"

namespace lethe::onnx {
namespace {

ReadTensor integers(const Ints& values, bool is_scalar = false) {
  return {Type::i64, is_scalar ? Shape{} : Shape{std::ssize(values)}, bytes_of_values(values)};
}

void import_shape_of(ImportState& state, const ReadNode& node) {
  Shape shape = state.shape(state.value(node, 0));
  const std::int64_t rank = std::ssize(shape);
  const auto bound = [&](const char* key, std::int64_t absent) {
    const std::int64_t at = node.integer(key, absent);
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t begin = bound("start", 0), end = std::max(bound("end", rank), begin);
  state.constants.add(node, integers(Ints(shape.begin() + begin, shape.begin() + end)));
}

void import_size(ImportState& state, const ReadNode& node) {
  state.constants.add(node, integers({count_of(state.shape(state.value(node, 0)))}, true));
}

}  // namespace

void give_reshaped(ImportState& state, const ReadNode& node, const View& x, const Shape& to) {
  std::optional<View> made = reshaped(x, to, state.batch());
  if (!made) {
    const View seen = simplified(x);
    made = reshaped(state.in_order(seen, order_of(seen)), to, state.batch());
  }
  check_as(Exit::Data, made.has_value(), node.text(), ": makes ", text_of(to), " of ", state.text(x),
           ", across the batch or of another number of elements");
  state.give(node, *made);
}

namespace {

void import_reshape(ImportState& state, const ReadNode& node) {
  const View& x = state.value(node, 0);
  const ReadTensor* const given = state.constant(node, 1);
  check_as(Exit::Data, given || node.has("shape"), node.text(), ": its shape is no constant of the file");
  Shape to = given ? given->integers() : node.integers("shape", {});
  const Shape from = state.shape(x);
  const std::int64_t count = count_of(from);
  std::int64_t known = 1, open = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0 && node.integer("allowzero", 0) == 0 && i < from.size()) to[i] = from[i];
    check_as(Exit::Data, to[i] == -1 || (to[i] >= 1 && to[i] <= count && known <= count / to[i]), node.text(),
             ": makes ", text_of(to), " of ", state.text(x));
    to[i] == -1 ? ++open : known *= to[i];
  }
  check_as(Exit::Data, open < 2 && count % known == 0, node.text(), ": makes ", text_of(to), " of ", state.text(x));
  std::ranges::replace(to, std::int64_t{-1}, count / known);
  give_reshaped(state, node, x, to);
}

void import_flatten(ImportState& state, const ReadNode& node) {
  const View& x = state.value(node, 0);
  const Shape shape = state.shape(x);
  const std::int64_t rank = std::ssize(shape), given = node.integer("axis", 1), axis = given < 0 ? given + rank : given;
  check_as(Exit::Data, axis >= 0 && axis <= rank, node.text(), ": an axis ", given, " of ", rank);
  const Shape outer(shape.begin(), shape.begin() + axis), inner(shape.begin() + axis, shape.end());
  give_reshaped(state, node, x, {count_of(outer), count_of(inner)});
}

void import_transpose(ImportState& state, const ReadNode& node) {
  const View& x = state.value(node, 0);
  Ints axes(x.axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  const Ints perm = node.integers("perm", Ints(axes.rbegin(), axes.rend()));
  Ints sorted = perm;
  std::ranges::sort(sorted);
  check_as(Exit::Data, sorted == axes, node.text(), ": perm is ", text_of(perm), " of ", axes.size(), " axes");
  state.give(node, transposed(x, perm));
}

void import_squeeze(ImportState& state, const ReadNode& node) {
  View x = state.value(node, 0);
  const Ints axes = state.integers(node, 1, "axes");
  std::set<std::size_t, std::greater<>> gone;
  for (const std::int64_t axis : axes) gone.insert(axis_of(node, axis, x.axes.size()));
  if (axes.empty())
    for (std::size_t axis = 0; axis < x.axes.size(); ++axis)
      if (size_of(x, axis, state.batch()) == 1) gone.insert(axis);
  x = simplified(x);
  for (const std::size_t axis : gone) {
    check_as(Exit::Data, x.axes[axis].empty(), node.text(), ": takes away axis ", axis, " of ", state.text(x));
    x = without_one(x, static_cast<std::int64_t>(axis));
  }
  state.give(node, x);
}

void import_unsqueeze(ImportState& state, const ReadNode& node) {
  View x = state.value(node, 0);
  const Ints axes = state.integers(node, 1, "axes");
  const std::size_t rank = x.axes.size() + axes.size();
  check_as(Exit::Data, rank < 9, node.text(), ": makes ", rank, " axes");
  std::set<std::size_t> more;
  for (const std::int64_t axis : axes) more.insert(axis_of(node, axis, rank));
  check_as(Exit::Data, more.size() == axes.size(), node.text(), ": an axis twice");
  for (const std::size_t axis : more) x = with_one(x, static_cast<std::int64_t>(axis));
  state.give(node, x);
}

}  // namespace

std::size_t axis_of(const ReadNode& node, std::int64_t axis, std::size_t rank) {
  const std::int64_t at = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  check_as(Exit::Data, at >= 0 && at < static_cast<std::int64_t>(rank), node.text(), ": an axis ", axis, " of ", rank);
  return static_cast<std::size_t>(at);
}

void add_shape_imports(ImportTable& table) {
  table["Shape"] = import_shape_of;
  table["Size"] = import_size;
  table["Reshape"] = import_reshape;
  table["Flatten"] = import_flatten;
  table["Transpose"] = import_transpose;
  table["Squeeze"] = import_squeeze;
  table["Unsqueeze"] = import_unsqueeze;
}

}  // namespace lethe::onnx
