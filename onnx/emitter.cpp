#include "onnx/emitter.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "framework/error.h"
#include "onnx/bytes.h"

namespace lethe::onnx {
namespace {

/// Of columns of a matrix that are those of an image: no order of axes.
const Ints kChannelsFirst = {-1};

bool is_parameter(const Var& var) { return var.kind == Kind::Param || var.kind == Kind::State; }

Ints natural_order(std::size_t rank) {
  Ints perm(rank);
  std::iota(perm.begin(), perm.end(), std::int64_t{0});
  return perm;
}

Ints inverse_of(const Ints& perm) {
  Ints inverse(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return inverse;
}

Shape in_order(const Shape& shape, const Ints& perm) {
  Shape to;
  for (const std::int64_t axis : perm) to.push_back(shape[static_cast<std::size_t>(axis)]);
  return to;
}

/// Writes elements of so many bytes in another order of axes.
void write_permuted(const std::vector<std::byte>& from, const Shape& shape, const Ints& perm, std::int64_t width,
                    const Sink& to) {
  const auto* const bytes = reinterpret_cast<const char*>(from.data());
  if (std::is_sorted(perm.begin(), perm.end())) return to(bytes, std::ssize(from));
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  const Shape out = in_order(shape, perm), step = in_order(strides, perm);
  Shape at(out.size(), 0);
  std::string row;
  for (std::int64_t left = elements(shape); left > 0; left -= out.back()) {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < at.size(); ++i) first += at[i] * step[i];
    row.clear();
    for (std::int64_t i = 0; i < out.back(); ++i) row.append(bytes + (first + i * step.back()) * width, width);
    to(row.data(), std::ssize(row));
    for (std::size_t i = at.size() - 1; i-- > 0;) {
      if (++at[i] < out[i]) break;
      at[i] = 0;
    }
  }
}

}  // namespace

Type Emitter::type_of(VarId id) const {
  switch (var(id).dtype) {
    case DType::i32:
      return Type::i32;
    case DType::i64:
      return Type::i64;
    case DType::u8:
      return Type::u8;
    default:
      return source_.type;
  }
}

bool Emitter::is_image(VarId id) const {
  const auto found = source_.network.layouts.find(id);
  return shape(id).size() == 4 && found != source_.network.layouts.end() && found->second == Layout::Image;
}

std::int64_t Emitter::axis(VarId id, std::int64_t in_memory) const {
  return is_image(id) ? inverse_of(stated_axes(4, Layout::Image))[static_cast<std::size_t>(in_memory)] : in_memory;
}

std::string Emitter::value(VarId id) {
  if (is_parameter(var(id)))
    return parameter(id, is_image(id) ? stated_axes(4, Layout::Image) : natural_order(shape(id).size()));
  return var(id).name;
}

std::string Emitter::in_memory_order(VarId id) {
  if (!is_image(id)) return value(id);
  const auto [found, is_new] = in_memory_.try_emplace(id);
  if (is_new) {
    const std::string from = value(id);
    found->second = node("Transpose", {from}, {{"perm", inverse_of(stated_axes(4, Layout::Image))}});
  }
  return found->second;
}

std::string Emitter::permuted(VarId id, const Ints& perm) {
  if (is_parameter(var(id))) return parameter(id, perm);
  return node("Transpose", {in_memory_order(id)}, {{"perm", perm}});
}

std::string Emitter::columns_of_image(VarId weight, VarId flat) {
  const Var& var = this->var(weight);
  const auto info = std::ranges::find(source_.network.params, weight, &ParamInfo::var);
  if (!channels_first_.contains(flat)) return value(weight);
  check(info != source_.network.params.end() && info->layout.kind == FileLayout::FlatImage,
        "ONNX: columns of no image");
  const auto [height, width, channels] = info->layout.hwc;
  const auto [order, is_new] = parameters_.try_emplace(weight, kChannelsFirst);
  check(order->second == kChannelsFirst, "ONNX: '", var.name, "' is read in two orders");
  if (!is_new) return var.name;
  const Type type = type_of(weight);
  const Shape image = {var.shape[0], height, width, channels};
  model_.tensors.push_back({var.name, type, var.shape, [read = source_.read, var, image, type](const Sink& to) {
                              write_permuted(read(var), image, stated_axes(4, Layout::Image), bytes_of(type), to);
                            }});
  return var.name;
}

std::string Emitter::in_axes_of(VarId other, VarId id) {
  if (shape(id).size() != shape(other).size() || is_image(id) == is_image(other)) return value(id);
  return is_image(id) ? in_memory_order(id) : permuted(id, stated_axes(4, Layout::Image));
}

std::string Emitter::batch_size() {
  const bool known = !model_.inputs.empty() && !model_.inputs.front().shape.empty() &&
                     model_.inputs.front().shape.front() == Extent(std::string("batch"));
  check(known, "ONNX: no input says the batch");
  if (batch_size_.empty()) {
    const std::string shape = node("Shape", {model_.inputs.front().name});
    batch_size_ = node("Slice", {shape, integers({0}), integers({1})});
  }
  return batch_size_;
}

std::string Emitter::parameter(VarId id, const Ints& perm) {
  const Var& var = this->var(id);
  const auto [found, is_new] = parameters_.try_emplace(id, perm);
  if (!is_new) {
    if (found->second == perm) return var.name;
    check(found->second != kChannelsFirst, "ONNX: '", var.name, "' is read in two orders");
    Ints change;  // from the order in the model
    const Ints there = inverse_of(found->second);
    for (const std::int64_t axis : perm) change.push_back(there[static_cast<std::size_t>(axis)]);
    return node("Transpose", {var.name}, {{"perm", change}});
  }
  const Type type = type_of(id);
  model_.tensors.push_back(
      {var.name, type, in_order(var.shape, perm), [read = source_.read, var, perm, type](const Sink& to) {
         write_permuted(read(var), var.shape, perm, bytes_of(type), to);
       }});
  return var.name;
}

std::string Emitter::constant(Type type, const Ints& shape, std::vector<std::byte> bytes) {
  const auto [found, is_new] = constants_.try_emplace({type, shape, bytes});
  if (is_new) {
    found->second = message("constant/", constants_.size());
    model_.tensors.push_back({found->second, type, shape,
                              [bytes = std::move(bytes)](const Sink& to) { to(bytes.data(), std::ssize(bytes)); }});
  }
  return found->second;
}

std::string Emitter::numbers(const Ints& shape, const std::vector<double>& values) {
  return constant(source_.type, shape, source_.rounded(values));
}

std::string Emitter::integers(const Ints& values) {
  return constant(Type::i64, {std::ssize(values)}, bytes_of_values(values));
}

std::string Emitter::integer_like(VarId id, std::int64_t value) {
  if (type_of(id) == Type::i64) return constant(Type::i64, {}, bytes_of_values(std::vector{value}));
  check(type_of(id) == Type::i32, "ONNX: no whole numbers in ", name_of(var(id).dtype));
  return constant(Type::i32, {}, bytes_of_values(std::vector{static_cast<std::int32_t>(value)}));
}

std::string Emitter::shape_in_memory(VarId id) {
  Ints sizes = shape(id);
  const Shape& other = source_.other_batch.program.vars[id].shape;
  int depend = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != other[i]) sizes[i] = -1, ++depend;
  check(depend <= 1, "ONNX: two axes of '", var(id).name, "' depend on the batch");
  return integers(sizes);
}

std::string Emitter::node(const std::string& type, const Names& inputs, const Attributes& attributes) {
  std::string name = message("value/", ++made_);
  model_.nodes.push_back({type, inputs, {name}, attributes});
  return name;
}

void Emitter::give(VarId id, const std::string& type, const Names& inputs, const Attributes& attributes) {
  model_.nodes.push_back({type, inputs, {var(id).name}, attributes});
  given_.push_back(id);
}

void Emitter::give_in_memory_order(VarId id, const std::string& type, const Names& inputs,
                                   const Attributes& attributes) {
  if (!is_image(id)) return give(id, type, inputs, attributes);
  in_memory_[id] = node(type, inputs, attributes);
  give(id, "Transpose", {in_memory_[id]}, {{"perm", stated_axes(4, Layout::Image)}});
}

std::vector<Extent> Emitter::extents_of(VarId id) const {
  const Shape& other = source_.other_batch.program.vars[id].shape;
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < other.size(); ++i) {
    const std::int64_t size = shape(id)[i], of_one = size / source_.batch;
    if (size == other[i])
      extents.emplace_back(size);
    else
      extents.emplace_back(of_one == 1 ? std::string("batch") : message(of_one, "*batch"));
  }
  if (!is_image(id)) return extents;
  std::vector<Extent> stated;
  for (const std::int64_t axis : stated_axes(4, Layout::Image))
    stated.push_back(extents[static_cast<std::size_t>(axis)]);
  return stated;
}

void Emitter::add_input(VarId id) { model_.inputs.push_back(info_of(id)); }
void Emitter::add_output(VarId id) { model_.outputs.push_back(info_of(id)); }

Model Emitter::finish() {
  for (const VarId id : given_)
    if (std::ranges::none_of(model_.outputs, [&](const ValueInfo& out) { return out.name == var(id).name; }))
      model_.values.push_back(info_of(id));
  return std::move(model_);
}

}  // namespace lethe::onnx
