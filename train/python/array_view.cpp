#include "train/python/array_view.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "framework/error.h"
#include "framework/language/channel_order.h"
#include "kernels/dtypes.h"
#include "train/data/write_number.h"

namespace lethe {
namespace {

/// Calls `body` with a value of the type of an element.
template <class Body>
auto for_element_type(Element element, const Body& body) {
  switch (element) {
    case Element::f32:
      return body(float{});
    case Element::f64:
      return body(double{});
    case Element::f16:
      return body(F16{});
    case Element::bf16:
      return body(Bf16{});
    case Element::i8:
      return body(std::int8_t{});
    case Element::i16:
      return body(std::int16_t{});
    case Element::u16:
      return body(std::uint16_t{});
    case Element::i32:
      return body(std::int32_t{});
    case Element::u32:
      return body(std::uint32_t{});
    case Element::i64:
      return body(std::int64_t{});
    case Element::u64:
      return body(std::uint64_t{});
    default:
      return body(std::uint8_t{});
  }
}

bool is_same(Element element, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return element == Element::f32;
    case DType::f64:
      return element == Element::f64;
    case DType::f16:
      return element == Element::f16;
    case DType::bf16:
      return element == Element::bf16;
    case DType::i32:
      return element == Element::i32;
    case DType::i64:
      return element == Element::i64;
    default:
      return dtype == DType::u8 && element == Element::u8;
  }
}

/// The strides of the axes that the input states, from those of the array; axes of size 1 may be anywhere. None if the
/// array has other axes.
std::optional<Shape> strides_of(const ArrayView& array, const Shape& stated) {
  Shape strides;
  std::size_t at = 1;
  const auto skip_ones = [&] {
    while (at < array.shape.size() && array.shape[at] == 1) ++at;
  };
  for (const std::int64_t size : stated) {
    skip_ones();
    if (size == 1) {
      strides.push_back(0);
      continue;
    }
    if (at == array.shape.size() || array.shape[at] != size) return std::nullopt;
    strides.push_back(array.strides[at++]);
  }
  skip_ones();
  return at == array.shape.size() ? std::optional(strides) : std::nullopt;
}

}  // namespace

std::int64_t bytes_of(Element element) {
  return for_element_type(element, [](auto zero) { return std::int64_t{sizeof zero}; });
}

InputArray::InputArray(ArrayView array, const Network& network, VarId input) : array_(std::move(array)) {
  const Var& var = network.program.vars[input];
  dtype_ = var.dtype;
  sample_bytes_ = bytes_of(var) / var.shape[0];
  Shape stated = sample_shape(network, input);
  check_as(Exit::Data, !array_.shape.empty(), array_.name, ": is a single number, expected an array of rows");
  std::optional<Shape> strides = strides_of(array_, stated);
  const Shape found(array_.shape.begin() + 1, array_.shape.end());
  check_as(Exit::Data, strides.has_value(), array_.name, ": has rows of ", text_of(found), ", the input '", var.name,
           "' takes ", text_of(stated), channel_order_hint(found));
  if (is_image(network, input)) {
    std::rotate(stated.begin(), stated.begin() + 1, stated.end());
    std::rotate(strides->begin(), strides->begin() + 1, strides->end());
  }
  for (std::size_t i = stated.size(); i-- > 0;) {
    if (stated[i] == 1) continue;
    const std::int64_t stride = (*strides)[i];
    if (!axes_.empty() && stride == axes_.front().size * axes_.front().stride)
      axes_.front().size *= stated[i];
    else
      axes_.insert(axes_.begin(), {stated[i], stride});
  }
  const std::int64_t width = bytes_of(dtype_);
  if (axes_.empty()) axes_.push_back({1, width});
  same_type_ = is_same(array_.element, dtype_);
  as_fed_ = same_type_ && axes_.size() == 1 && axes_[0].stride == width &&
            (rows() == 1 || array_.strides[0] == sample_bytes_);
}

/// Calls `write` for each run of the innermost axis with where it begins.
template <class Write>
void InputArray::each_run(std::int64_t row, const Write& write) const {
  std::vector<std::int64_t> index(axes_.size() - 1);
  for (;;) {
    const std::byte* from = this->row(row);
    for (std::size_t i = 0; i < index.size(); ++i) from += index[i] * axes_[i].stride;
    write(from);
    std::size_t i = index.size();
    while (i > 0 && ++index[i - 1] == axes_[i - 1].size) index[--i] = 0;
    if (i == 0) return;
  }
}

void InputArray::read(std::int64_t row, std::byte* to) const {
  const auto [count, stride] = axes_.back();
  const std::int64_t width = bytes_of(dtype_);
  if (same_type_ && stride == width) {
    each_run(row, [&, count = count](const std::byte* from) {
      std::memcpy(to, from, static_cast<std::size_t>(count * width));
      to += count * width;
    });
    return;
  }
  for_element_type(array_.element, [&, count = count, stride = stride](auto zero) {
    each_run(row, [&](const std::byte* from) {
      for (std::int64_t i = 0; i < count; ++i, from += stride, to += width) {
        auto value = zero;
        std::memcpy(&value, from, sizeof value);
        if (same_type_) {
          std::memcpy(to, from, sizeof value);
          continue;
        }
        if (array_.element == Element::b1) value = static_cast<decltype(zero)>(compute(value) != 0);
        if (!write_number(compute(value), dtype_, to))
          fail_as(Exit::Data, array_.name, ": row ", row, " has ", +compute(value), ", which ", name_of(dtype_),
                  " has no number for");
      }
    });
  });
}

std::vector<std::byte> packed(const ArrayView& array) {
  const auto width = static_cast<std::size_t>(bytes_of(array.element));
  std::vector<std::byte> all(static_cast<std::size_t>(elements(array.shape)) * width);
  std::vector<std::int64_t> index(array.shape.size());
  for (std::byte* to = all.data(); to != all.data() + all.size(); to += width) {
    const std::byte* from = array.data;
    for (std::size_t i = 0; i < index.size(); ++i) from += index[i] * array.strides[i];
    std::memcpy(to, from, width);
    for (std::size_t i = index.size(); i > 0 && ++index[i - 1] == array.shape[i - 1];) index[--i] = 0;
  }
  return all;
}

}  // namespace lethe
