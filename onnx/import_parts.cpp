// Parts of values, looked up or cut, and values that are repeated.
#include <algorithm>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/fold.h"
#include "onnx/import_tables.h"

namespace lethe::onnx {
namespace {

/// A range of one axis, or places of it in any order.
View part(ImportState& state, const ReadNode& node, const View& x, std::size_t axis, const Ints& places,
          const std::string& name) {
  check_as(Exit::Data, !places.empty(), node.text(), ": leaves nothing of axis ", axis);
  View seen = simplified(x);
  const std::int64_t size = size_of(seen, axis, state.batch()), begin = places.front();
  bool is_range = true;
  for (std::size_t i = 0; i < places.size(); ++i)
    is_range = is_range && places[i] == begin + static_cast<std::int64_t>(i);
  if (is_range && begin == 0 && std::ssize(places) == size) return seen;
  check_as(Exit::Data, std::ranges::count(seen.axes[axis], kBatchAxis) == 0, node.text(),
           ": takes some of the batch, which is not read");
  if (seen.axes[axis].size() != 1) seen = state.in_order(seen, order_of(seen)), seen = simplified(seen);
  check_as(Exit::Data, seen.axes[axis].size() == 1, node.text(), ": takes some of an axis that is not one in memory");
  const std::int64_t of = seen.axes[axis][0];
  const Stated& now = state.stated(seen.layer);
  const bool as_now = now.memory() == seen.memory;
  const Stated as = as_now ? now : Stated{seen.memory};
  Stated made = as;
  Json entry = {{"op", is_range ? "slice" : "gather"}};
  const std::size_t at = as.is_image ? std::size_t(of == 2 ? 0 : of + 1) : static_cast<std::size_t>(of);
  made.shape[at] = std::ssize(places);
  made.type = now.type;
  if (of + 1 == std::ssize(seen.memory))
    entry["axis"] = "channels";
  else
    entry["axis"] = at;
  if (is_range)
    entry["begin"] = begin, entry["end"] = begin + std::ssize(places);
  else
    entry["indices"] = places;
  View result = seen;
  result.layer = state.add(name, entry, {state.restated(seen, as)}, made);
  result.memory[static_cast<std::size_t>(of)] = std::ssize(places);
  return result;
}

void import_slice(ImportState& state, const ReadNode& node) {
  if (import_thinning(state, node)) return;
  View x = state.value(node, 0);
  const Ints starts = state.integers(node, 1, "starts"), ends = state.integers(node, 2, "ends");
  Ints axes = state.integers(node, 3, "axes"), steps = state.integers(node, 4, "steps");
  for (std::size_t i = axes.size(); i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  steps.resize(starts.size(), 1);
  check_as(Exit::Data, ends.size() == starts.size() && axes.size() == starts.size(), node.text(),
           ": of bounds that do not belong together");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = axis_of(node, axes[i], x.axes.size());
    const std::int64_t size = size_of(x, axis, state.batch());
    if (steps[i] == 1 && starts[i] == 0 && ends[i] >= size) continue;
    x = part(state, node, x, axis, sliced(size, starts[i], ends[i], steps[i], node.text()), node.outputs[0]);
  }
  state.give(node, x);
}

Ints range(std::int64_t begin, std::int64_t end) {
  Ints places;
  for (; begin < end; ++begin) places.push_back(begin);
  return places;
}

void import_split(ImportState& state, const ReadNode& node) {
  const View x = state.value(node, 0);
  const std::size_t axis = axis_of(node, node.integer("axis", 0), x.axes.size());
  const std::int64_t size = size_of(x, axis, state.batch()), parts = std::ssize(node.outputs);
  check_as(Exit::Data, size < 1 << 24, node.text(), ": parts of an axis of ", size);
  Ints sizes = state.integers(node, 1, "split");
  if (sizes.empty())
    for (std::int64_t i = 0, each = (size + parts - 1) / parts; i < parts; ++i)
      sizes.push_back(std::max<std::int64_t>(std::min(each, size - i * each), 0));
  std::int64_t all = 0;
  for (const std::int64_t one : sizes)
    check_as(Exit::Data, one > 0 && one <= size - all, node.text(), ": parts of ", text_of(sizes), " of ", size),
        all += one;
  check_as(Exit::Data, std::ssize(sizes) == parts && all == size, node.text(), ": parts of ", text_of(sizes), " of ",
           size);
  for (std::size_t i = 0, at = 0; i < sizes.size(); at += static_cast<std::size_t>(sizes[i++])) {
    const auto begin = static_cast<std::int64_t>(at);
    if (state.is_read(node.outputs[i]))
      state.give_named(node.outputs[i], part(state, node, x, axis, range(begin, begin + sizes[i]), node.outputs[i]));
  }
}

/// Rows of a table by ids.
void look_up(ImportState& state, const ReadNode& node, const View& ids) {
  const ReadTensor& table = state.needed(node, 0, "table");
  check_as(Exit::Data, table.shape.size() == 2 && node.integer("axis", 0) == 0, node.text(), ": is no look-up of rows");
  const std::string name = state.name_of(node);
  const View seen = simplified(ids);
  Stated as = state.stated(seen.layer);
  if (as.is_image || as.shape.size() > 1) as = {seen.memory, false, as.type};
  Stated made{as.shape};
  made.shape.push_back(table.shape[1]);
  View view = seen;
  view.axes.push_back({std::ssize(view.memory)});
  view.memory.push_back(table.shape[1]);
  view.layer = state.add("", {{"op", "embedding"}, {"name", name}, {"out", table.shape[1]}, {"vocab", table.shape[0]}},
                         {state.restated(seen, as)}, made);
  state.give(node, view);
  state.add_weight(name + ".weight", table.shape, table.floats(), node.inputs[0]);
}

/// Rows one after another of a learned table: positions.
void look_up_positions(ImportState& state, const ReadNode& node) {
  const ReadTensor& index = state.needed(node, 1, "index");
  const std::int64_t first = index.integers()[0], count = count_of(index.shape);
  std::size_t at = 0;
  while (index.shape[at] == 1) ++at;
  check_as(Exit::Data, index.shape[at] == count && (at > 0 || !state.in_samples()), node.text(),
           ": looks up positions ", text_of(index.shape));
  Json entry = {{"op", "arange"}, {"end", first + count}};
  if (first != 0) entry["start"] = first;
  View view = state.of_plain(state.add(node.outputs[0] + ".ids", entry, {}, {{count}, false, Type::i32}), {count});
  for (std::size_t axis = 0; axis < index.shape.size(); ++axis)
    if (axis != at && (axis > 0 || !state.in_samples())) view = with_one(view, static_cast<std::int64_t>(axis));
  look_up(state, node, view);
}

void import_gather(ImportState& state, const ReadNode& node) {
  if (state.constants.is_table(node)) return look_up_positions(state, node);
  if (const View* const ids = state.maybe_value(node, 1); ids && state.constant(node, 0))
    return look_up(state, node, *ids);
  const View x = state.value(node, 0);
  const ReadTensor& index = state.needed(node, 1, "index");
  const std::size_t axis = axis_of(node, node.integer("axis", 0), x.axes.size());
  Ints places = index.integers();
  const std::int64_t size = size_of(x, axis, state.batch());
  for (std::int64_t& place : places) {
    place += place < 0 ? size : 0;
    check_as(Exit::Data, place >= 0 && place < size, node.text(), ": a place ", place, " of ", size);
  }
  const View taken = part(state, node, x, axis, places, node.outputs[0]);
  Shape to = state.shape(taken);
  to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis));
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis), index.shape.begin(), index.shape.end());
  give_reshaped(state, node, taken, to);
}

/// Those places of an axis for which a constant is true; without an axis, of all one after another.
void import_compress(ImportState& state, const ReadNode& node) {
  View x = state.value(node, 0);
  const std::vector<double> truth = Array::of(state.needed(node, 1, "condition")).numbers;
  if (!node.has("axis")) {
    give_reshaped(state, node, x, {count_of(state.shape(x))});
    x = state.made(node.outputs[0]);
  }
  const std::size_t axis = node.has("axis") ? axis_of(node, node.integer("axis", 0), x.axes.size()) : 0;
  Ints places;
  for (std::size_t i = 0; i < truth.size(); ++i)
    if (truth[i] != 0) places.push_back(static_cast<std::int64_t>(i));
  check_as(Exit::Data, std::ssize(truth) <= size_of(x, axis, state.batch()), node.text(), ": chooses among ",
           truth.size());
  state.give(node, part(state, node, x, axis, places, node.outputs[0]));
}

/// Of [N,T] every element in its place, as exporters of masks write it: another shape.
void import_gather_nd(ImportState& state, const ReadNode& node) {
  const View x = state.value(node, 0);
  const ReadTensor& index = state.needed(node, 1, "index");
  const Ints places = index.integers();
  const Shape of = state.shape(x);
  check_as(Exit::Data, !index.shape.empty(), node.text(), ": its places are one number");
  Shape to(index.shape.begin(), index.shape.end() - 1);
  bool is_whole = of.size() == 2 && index.shape.back() == 2 && count_of(to) == count_of(of);
  for (std::size_t i = 0; is_whole && i < places.size(); i += 2)
    is_whole = places[i] >= 0 && places[i] < of[0] && places[i + 1] >= 0 && places[i + 1] < of[1] &&
               places[i] * of[1] + places[i + 1] == static_cast<std::int64_t>(i / 2);
  check_as(Exit::Data, is_whole, node.text(), ": places ", text_of(index.shape), " of ", state.text(x),
           " are not read");
  give_reshaped(state, node, x, to);
}

/// Axes of size 1 that are repeated.
View expanded(ImportState& state, const ReadNode& node, const View& x, const Shape& to) {
  if (to == state.shape(x)) return x;
  check_as(Exit::Data, !state.in_samples() || (is_batch(x, 0) && to[0] == state.batch()), node.text(), ": makes ",
           text_of(to), " of ", state.text(x));
  const Shape sample(to.begin() + (state.in_samples() ? 1 : 0), to.end());
  Json entry = {{"op", "expand"}, {"shape", sample}};
  if (sample.size() == 3) entry["layout"] = "plain";
  const std::string in = state.plain(node, x);
  return state.of_plain(state.add(node.outputs[0], entry, {in}, {sample, false, state.stated(in).type}), sample);
}

void import_expand(ImportState& state, const ReadNode& node) {
  View x = state.value(node, 0);
  check_as(Exit::Data, count_of(state.needed(node, 1, "shape").shape) < 9, node.text(), ": makes too many axes");
  const Shape to = broadcast_shape(state.shape(x), state.needed(node, 1, "shape").integers());
  check_as(Exit::Data, x.axes.size() == to.size() || !state.in_samples(), node.text(), ": makes ", text_of(to), " of ",
           state.text(x));
  while (x.axes.size() < to.size()) x = with_one(x, 0);
  state.give(node, expanded(state, node, x, to));
}

void import_tile(ImportState& state, const ReadNode& node) {
  View x = state.value(node, 0);
  const Ints times = state.needed(node, 1, "repeats").integers();
  check_as(Exit::Data, times.size() == x.axes.size(), node.text(), ": repeats ", text_of(times));
  for (std::size_t axis = 0; axis < times.size(); ++axis) {
    if (times[axis] == 1) continue;
    const std::int64_t size = size_of(x, axis, state.batch());
    check_as(Exit::Data,
             times[axis] > 1 && times[axis] < 1 << 20 && size < 1 << 20 &&
                 (size == 1 || times[axis] <= (1 << 24) / size) && !is_batch(x, axis),
             node.text(), ": repeats ", text_of(times));
    Shape to = state.shape(x);
    to[axis] *= times[axis];
    Ints places;
    for (std::int64_t i = 0; size > 1 && i < to[axis]; ++i) places.push_back(i % size);
    x = size == 1 ? expanded(state, node, x, to) : part(state, node, x, axis, places, node.outputs[0]);
  }
  state.give(node, x);
}

}  // namespace

void add_part_imports(ImportTable& table) {
  table["Slice"] = import_slice;
  table["Split"] = import_split;
  table["Gather"] = import_gather;
  table["GatherND"] = import_gather_nd;
  table["Compress"] = import_compress;
  table["Expand"] = import_expand;
  table["Tile"] = import_tile;
}

}  // namespace lethe::onnx
