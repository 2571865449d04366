// Constants in another arrangement.
#include "onnx/bytes.h"
#include "onnx/fold.h"
#include "onnx/fold_node.h"

namespace lethe::onnx {
namespace {

ReadTensor fold_same(const Folding& f) { return f.x(); }

ReadTensor fold_reshape(const Folding& f) {
  ReadTensor made = f.x();
  Ints to = f.ints(1, "shape");
  const std::int64_t count = count_of(made.shape);
  check_as(Exit::Data, std::ranges::count(to, -1) < 2 && to.size() < 9, f.node.text(), ": makes ", to.size(), " axes");
  std::int64_t known = 1;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0 && i < made.shape.size() && f.node.integer("allowzero", 0) == 0) to[i] = made.shape[i];
    check_as(Exit::Data, to[i] == -1 || (to[i] >= 1 && to[i] <= count && known <= count / to[i]), f.node.text(),
             ": makes ", text_of(to), " of ", count, " numbers");
    known *= to[i] == -1 ? 1 : to[i];
  }
  for (std::int64_t& size : to)
    if (size == -1) size = count / known, known *= size;
  check_as(Exit::Data, known == count, f.node.text(), ": makes ", text_of(to), " of ", count, " numbers");
  made.shape = to;
  return made;
}

ReadTensor fold_unsqueeze(const Folding& f) {
  ReadTensor made = f.x();
  Ints axes = f.ints(1, "axes");
  const auto rank = std::ssize(made.shape) + std::ssize(axes);
  check_as(Exit::Data, rank < 9, f.node.text(), ": makes ", rank, " axes");
  for (std::int64_t& axis : axes) axis = static_cast<std::int64_t>(f.axis(axis, rank));
  std::ranges::sort(axes);
  for (const std::int64_t axis : axes) {
    check_as(Exit::Data, axis <= std::ssize(made.shape), f.node.text(), ": an axis ", axis);
    made.shape.insert(made.shape.begin() + axis, 1);
  }
  return made;
}

ReadTensor fold_squeeze(const Folding& f) {
  ReadTensor made{f.x().type, {}, f.x().data};
  const Ints axes = f.ints(1, "axes");
  std::vector<bool> goes(f.x().shape.size(), axes.empty());
  for (const std::int64_t axis : axes) goes[f.axis(axis, std::ssize(f.x().shape))] = true;
  for (std::size_t i = 0; i < goes.size(); ++i)
    if (!goes[i] || (axes.empty() && f.x().shape[i] != 1)) made.shape.push_back(f.x().shape[i]);
  check_as(Exit::Data, count_of(made.shape) == count_of(f.x().shape), f.node.text(), ": of an axis that is not 1");
  return made;
}

ReadTensor fold_transpose(const Folding& f) {
  Ints perm, last = {};
  for (std::int64_t axis = std::ssize(f.x().shape); axis-- > 0;) last.push_back(axis);
  perm = f.node.integers("perm", last);
  Ints sorted = perm;
  std::ranges::sort(sorted), std::ranges::reverse(last);
  check_as(Exit::Data, sorted == last, f.node.text(), ": perm is ", text_of(perm));
  return turned(f.x(), perm);
}

ReadTensor fold_gather(const Folding& f) {
  const ReadTensor &x = f.x(), &index = f.x(1);
  const std::size_t axis = f.axis(f.node.integer("axis", 0), std::ssize(x.shape));
  Shape to = x.shape;
  to[axis] = count_of(index.shape);
  f.check_size(to, sizeof(double));
  ReadTensor made = gathered(x, axis, index.integers(), f.node.text());
  made.shape.erase(made.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  made.shape.insert(made.shape.begin() + static_cast<std::ptrdiff_t>(axis), index.shape.begin(), index.shape.end());
  return made;
}

/// The tensor with an axis of each sample where the other one has it, and it says the same of all.
ReadTensor of_each_sample(const ReadTensor& x, const Shape& other, std::int64_t samples, std::size_t but) {
  Shape shape = x.shape;
  Ints strides = strides_in(x.shape);
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (axis != but && samples > 1 && shape[axis] == 1 && other.at(axis) == samples)
      shape[axis] = samples, strides[axis] = 0;
  return shape == x.shape ? x : strided(x, shape, strides);
}

ReadTensor fold_concat(const Folding& f) {
  const std::size_t axis = f.axis(f.node.integer("axis", 1), std::ssize(f.x().shape));
  Shape most = f.x().shape;
  for (std::size_t i = 0; i < f.in.size(); ++i) {
    check_as(Exit::Data, f.x(i).shape.size() == most.size() && f.x(i).type == f.x().type, f.node.text(),
             ": of parts of other kinds");
    for (std::size_t k = 0; k < most.size(); ++k) most[k] = std::max(most[k], f.x(i).shape[k]);
  }
  std::vector<ReadTensor> parts;
  ReadTensor made{f.x().type, most, {}};
  made.shape[axis] = 0;
  std::int64_t outer = 1;
  for (std::size_t k = 0; k < axis; ++k) outer *= most[k];
  f.check_size(most, static_cast<std::int64_t>(f.in.size()) * bytes_of(f.x().type));
  for (std::size_t i = 0; i < f.in.size(); ++i) {
    parts.push_back(of_each_sample(f.x(i), most, f.samples, axis));
    Shape expected = most;
    expected[axis] = parts.back().shape[axis];
    check_as(Exit::Data, parts.back().shape == expected, f.node.text(), ": of parts of other shapes");
    made.shape[axis] += expected[axis];
  }
  for (std::int64_t row = 0; row < outer; ++row)
    for (const ReadTensor& part : parts) {
      const std::ptrdiff_t bytes = std::ssize(part.data) / std::max<std::int64_t>(outer, 1);
      const auto from = part.data.begin() + row * bytes;
      made.data.insert(made.data.end(), from, from + bytes);
    }
  return made;
}

ReadTensor fold_slice(const Folding& f) {
  ReadTensor made = f.x();
  const Ints starts = f.ints(1, "starts"), ends = f.ints(2, "ends");
  Ints axes = f.ints(3, "axes"), steps = f.has(4) ? f.x(4).integers() : Ints(starts.size(), 1);
  for (std::size_t i = 0; axes.size() < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  check_as(Exit::Data, ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size(),
           f.node.text(), ": of bounds that do not belong together");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = f.axis(axes[i], std::ssize(made.shape));
    made = gathered(made, axis, sliced(made.shape[axis], starts[i], ends[i], steps[i], f.node.text()), f.node.text());
  }
  return made;
}

ReadTensor fold_expand(const Folding& f) {
  Shape shape = broadcast_shape(f.x().shape, f.x(1).integers());
  const Shape without_samples = f.made(shape, bytes_of(f.x().type));
  for (std::size_t i = 0; i < shape.size(); ++i)  // an axis that counts samples stays
    if (i + f.x().shape.size() < shape.size() || f.x().shape[i + f.x().shape.size() - shape.size()] == 1)
      shape[i] = without_samples[i];
  f.check_size(shape, bytes_of(f.x().type));
  Ints strides(shape.size(), 0);
  const Ints own = strides_in(f.x().shape);
  for (std::size_t i = 0; i < own.size(); ++i)
    if (f.x().shape[i] != 1) strides[shape.size() - own.size() + i] = own[i];
  return strided(f.x(), shape, strides);
}

ReadTensor fold_tile(const Folding& f) {
  ReadTensor made = f.x();
  const Ints times = f.x(1).integers();
  check_as(Exit::Data, times.size() == made.shape.size(), f.node.text(), ": repeats ", text_of(times));
  for (std::size_t axis = 0; axis < times.size(); ++axis) {
    Shape shape = made.shape;
    check_as(Exit::Data, times[axis] >= 0 && times[axis] < 1 << 24, f.node.text(), ": repeats ", times[axis]);
    shape[axis] *= times[axis];
    f.check_size(shape, sizeof(double));
    shape = f.made(shape, bytes_of(made.type));
    Ints places(static_cast<std::size_t>(shape[axis]));
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i) % made.shape[axis];
    made = gathered(made, axis, places, f.node.text());
  }
  return made;
}

ReadTensor fold_size(const Folding& f) {
  const Shape& shape = f.x().shape;
  if (f.node.type == "Size") return Array{{}, {static_cast<double>(count_of(shape))}}.as(Type::i64);
  return {Type::i64, {std::ssize(shape)}, bytes_of_values(shape)};
}

/// Elements of x at places along an axis, which are given for each.
ReadTensor fold_gather_elements(const Folding& f) {
  const Array x = Array::of(f.x()), places = Array::of(f.x(1));
  const std::size_t axis = f.axis(f.node.integer("axis", 0), std::ssize(x.shape));
  check_as(Exit::Data, places.shape.size() == x.shape.size(), f.node.text(), ": places ", text_of(places.shape), " of ",
           text_of(x.shape));
  const Ints own = strides_in(x.shape), of = strides_in(places.shape);
  Array made{places.shape, {}};
  for (std::int64_t i = 0; i < std::ssize(places.numbers); ++i) {
    std::int64_t from = 0;
    for (std::size_t k = 0; k < own.size(); ++k) {
      std::int64_t at = k == axis ? static_cast<std::int64_t>(places.numbers[static_cast<std::size_t>(i)])
                                  : i / of[k] % places.shape[k];
      if (at < 0) at += x.shape[k];
      if (f.samples > 1 && x.shape[k] == 1) at = 0;  // an axis of samples that are all the same
      check_as(Exit::Data, at >= 0 && at < x.shape[k], f.node.text(), ": a place ", at, " of ", x.shape[k]);
      from += at * own[k];
    }
    made.numbers.push_back(x.numbers[static_cast<std::size_t>(from)]);
  }
  return made.as(f.x().type);
}

/// Parts of x by the first axes' places, which stand in rows.
ReadTensor fold_gather_nd(const Folding& f) {
  const Array x = Array::of(f.x()), places = Array::of(f.x(1));
  check_as(Exit::Data,
           !places.shape.empty() && places.shape.back() >= 1 && places.shape.back() <= std::ssize(x.shape) &&
               f.node.integer("batch_dims", 0) == 0,
           f.node.text(), ": places ", text_of(places.shape), " of ", text_of(x.shape));
  const auto count = static_cast<std::size_t>(places.shape.back());
  const Ints own = strides_in(x.shape);
  Array made{Shape(places.shape.begin(), places.shape.end() - 1), {}};
  made.shape.insert(made.shape.end(), x.shape.begin() + static_cast<std::ptrdiff_t>(count), x.shape.end());
  f.check_size(made.shape, sizeof(double));
  const std::int64_t part = count_of(Shape(x.shape.begin() + static_cast<std::ptrdiff_t>(count), x.shape.end()));
  for (std::size_t row = 0; row < places.numbers.size(); row += count) {
    std::int64_t from = 0;
    for (std::size_t k = 0; k < count; ++k) {
      auto at = static_cast<std::int64_t>(places.numbers[row + k]);
      if (at < 0) at += x.shape[k];
      if (f.samples > 1 && x.shape[k] == 1) at = 0;
      check_as(Exit::Data, at >= 0 && at < x.shape[k], f.node.text(), ": a place ", at, " of ", x.shape[k]);
      from += at * own[k];
    }
    const auto begin = x.numbers.begin() + from;
    made.numbers.insert(made.numbers.end(), begin, begin + part);
  }
  return made.as(f.x().type);
}

ReadTensor fold_constant(const Folding& f) {
  const auto whole = [](const Ints& values, Shape shape) {
    return ReadTensor{Type::i64, std::move(shape), bytes_of_values(values)};
  };
  const auto floats = [](const std::vector<float>& values, Shape shape) {
    return ReadTensor{Type::f32, std::move(shape), bytes_of_values(values)};
  };
  if (f.node.has("value_int")) return whole({f.node.integer("value_int", 0)}, {});
  if (f.node.has("value_ints"))
    return whole(f.node.integers("value_ints", {}), {std::ssize(f.node.integers("value_ints", {}))});
  if (f.node.has("value_float")) return floats({f.node.number("value_float", 0)}, {});
  if (f.node.has("value_floats"))
    if (const auto* const values = std::get_if<std::vector<float>>(&f.node.attributes.at("value_floats")))
      return floats(*values, {std::ssize(*values)});
  const auto* const tensor = f.node.has("value") ? std::get_if<ReadTensor>(&f.node.attributes.at("value")) : nullptr;
  check_as(Exit::Data, tensor != nullptr, f.node.text(), ": is of a form that is not read");
  return *tensor;
}

}  // namespace

Ints sliced(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step, const std::string& what) {
  constexpr std::int64_t kMostPlaces = 1 << 24;
  check_as(Exit::Data, step != 0 && size <= kMostPlaces, what, ": steps of ", step, " in an axis of ", size);
  const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
  const auto bound = [&](std::int64_t at) {
    at = std::max(at, -size - 1);
    return std::clamp(at < 0 ? at + size : at, lowest, highest);
  };
  Ints places;
  for (std::int64_t at = bound(start); step > 0 ? at < bound(end) : at > bound(end); at += step) {
    places.push_back(at);
    if (step > size || step < -size) break;
  }
  return places;
}

void add_moves(FoldTable& table) {
  table["Constant"] = fold_constant;
  table["Identity"] = table["Dropout"] = fold_same;
  table["Reshape"] = fold_reshape;
  table["Unsqueeze"] = fold_unsqueeze;
  table["Squeeze"] = fold_squeeze;
  table["Transpose"] = fold_transpose;
  table["Gather"] = fold_gather;
  table["GatherElements"] = fold_gather_elements;
  table["GatherND"] = fold_gather_nd;
  table["Concat"] = fold_concat;
  table["Slice"] = fold_slice;
  table["Expand"] = fold_expand;
  table["Tile"] = fold_tile;
  table["Shape"] = table["Size"] = fold_size;
}

}  // namespace lethe::onnx
