#include "train/session/stored_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "framework/error.h"
#include "kernels/dtypes.h"
#include "train/session/head_rows.h"

namespace lethe {
namespace {

/// Values seen as [outer, h, w, c] in memory and [outer, c, h, w] in the file.
struct Planes {
  std::int64_t outer, h, w, c;
};

enum class Direction { ToFile, ToMemory };

/// Works in place, one outer index at a time (a transposed matrix has one): a second copy of the largest tensor could
/// be the most that a run ever takes.
template <class Element>
void reorder(std::vector<std::byte>& data, const Planes& image, Direction direction) {
  const std::int64_t pixels = image.h * image.w;
  std::vector<Element> from(static_cast<std::size_t>(pixels * image.c));
  auto* to = reinterpret_cast<Element*>(data.data());
  for (std::int64_t o = 0; o < image.outer; ++o, to += from.size()) {
    std::memcpy(from.data(), to, from.size() * sizeof(Element));
    std::int64_t in_file = 0;
    for (std::int64_t c = 0; c < image.c; ++c)
      for (std::int64_t pixel = 0; pixel < pixels; ++pixel, ++in_file) {
        const std::int64_t in_memory = pixel * image.c + c;
        if (direction == Direction::ToFile)
          to[in_file] = from[in_memory];
        else
          to[in_memory] = from[in_file];
      }
  }
}

void reorder(std::vector<std::byte>& data, DType dtype, const Planes& image, Direction direction) {
  switch (bytes_of(dtype)) {
    case 8:
      return reorder<std::uint64_t>(data, image, direction);
    case 4:
      return reorder<std::uint32_t>(data, image, direction);
    case 2:
      return reorder<std::uint16_t>(data, image, direction);
    default:
      return reorder<std::uint8_t>(data, image, direction);
  }
}

std::vector<std::byte> in_layout(std::vector<std::byte> data, const StoredTensor& stored, Direction direction) {
  const FileLayout& layout = stored.layout;
  const Shape& shape = stored.var.shape;
  if (layout.kind == FileLayout::Same) return data;
  const Planes image = layout.kind == FileLayout::Conv ? Planes{shape[0], shape[1], shape[2], shape[3]}
                                                       : Planes{shape[0], layout.hwc[0], layout.hwc[1], layout.hwc[2]};
  check_as(Exit::Internal, elements({image.outer, image.h, image.w, image.c}) == elements(shape),
           quote(stored.var.name), " is ", text_of(shape), ", which no images of ", image.h, 'x', image.w, 'x', image.c,
           " fill");
  reorder(data, stored.var.dtype, image, direction);
  return data;
}

/// The whole in the file's layout.
Shape file_shape(const StoredTensor& stored) {
  const Shape& shape = stored.var.shape;
  if (!stored.shape.empty()) return stored.shape;
  return stored.layout.kind == FileLayout::Conv ? Shape{shape[0], shape[3], shape[1], shape[2]} : shape;
}

/// The rows of each tensor, before it is transposed.
std::vector<Shape> shapes_of_parts(const StoredTensor& stored) {
  const Shape whole = file_shape(stored);
  if (stored.rows.empty()) return {whole};
  std::vector<Shape> shapes(stored.rows.size(), whole);
  for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i][0] = stored.rows[i];
  return shapes;
}

void transpose_parts(const StoredTensor& stored, const std::vector<Shape>& shapes,
                     std::vector<std::vector<std::byte>>& tensors, Direction direction) {
  for (std::size_t i = 0; stored.transposed && i < shapes.size(); ++i)
    reorder(tensors[i], stored.var.dtype, {1, shapes[i][0], 1, shapes[i][1]}, direction);
}

/// The first block whose scale is no finite number.
std::optional<NoNumber> no_scale_in(const std::vector<std::byte>& blocks, DType dtype) {
  const BlockFormat format = block_format(dtype, {});
  for (std::int64_t at = 0; at < std::ssize(blocks); at += format.bytes) {
    float scale;
    std::memcpy(&scale, blocks.data() + at, sizeof scale);
    if (!std::isfinite(scale)) return NoNumber{.at = at / format.bytes * format.elements, .value = scale};
  }
  return std::nullopt;
}

/// Each tensor's rows of heads, before it is transposed.
void order_heads(const StoredTensor& stored, const std::vector<Shape>& shapes,
                 std::vector<std::vector<std::byte>>& tensors, HeadRows order) {
  for (std::size_t i = 0; i < stored.interleaved.size(); ++i)
    if (stored.interleaved[i] > 0) order_rows(tensors[i], shapes[i][0], stored.interleaved[i], order);
}

}  // namespace

std::vector<TensorEntry> tensors_of(const StoredTensor& stored) {
  std::vector<TensorEntry> tensors;
  for (Shape& shape : shapes_of_parts(stored)) {
    if (stored.transposed) std::swap(shape[0], shape[1]);
    tensors.push_back({.name = stored.names[tensors.size()], .dtype = stored.var.dtype, .shape = std::move(shape)});
  }
  return tensors;
}

std::vector<std::vector<std::byte>> to_file(const StoredTensor& stored, std::vector<std::byte> value) {
  std::vector<std::byte> whole = in_layout(std::move(value), stored, Direction::ToFile);
  const std::vector<Shape> shapes = shapes_of_parts(stored);
  std::vector<std::vector<std::byte>> tensors;
  if (shapes.size() == 1) {
    tensors.push_back(std::move(whole));
  } else {
    auto next = whole.begin();
    for (const Shape& shape : shapes) {
      const auto end = next + static_cast<std::ptrdiff_t>(elements(shape) * bytes_of(stored.var.dtype));
      tensors.emplace_back(next, end);
      next = end;
    }
  }
  order_heads(stored, shapes, tensors, HeadRows::Interleaved);
  transpose_parts(stored, shapes, tensors, Direction::ToFile);
  return tensors;
}

std::vector<std::byte> to_memory(const StoredTensor& stored, std::vector<std::vector<std::byte>> tensors) {
  const std::vector<Shape> shapes = shapes_of_parts(stored);
  transpose_parts(stored, shapes, tensors, Direction::ToMemory);
  order_heads(stored, shapes, tensors, HeadRows::AsInMemory);
  if (tensors.size() == 1) return in_layout(std::move(tensors.front()), stored, Direction::ToMemory);
  std::vector<std::byte> whole;
  whole.reserve(static_cast<std::size_t>(bytes_of(stored.var)));
  for (std::vector<std::byte>& tensor : tensors) {
    whole.insert(whole.end(), tensor.begin(), tensor.end());
    std::vector<std::byte>().swap(tensor);
  }
  return in_layout(std::move(whole), stored, Direction::ToMemory);
}

std::optional<NoNumber> no_number_in(const std::vector<std::byte>& values, DType dtype, Infinite infinite) {
  if (dtype == DType::dynamic8 || dtype == DType::udynamic8) return no_scale_in(values, dtype);
  if (!is_float(dtype)) return std::nullopt;
  return for_float(dtype, [&](auto zero) -> std::optional<NoNumber> {
    using T = decltype(zero);
    const auto* const begin = reinterpret_cast<const T*>(values.data());
    const auto* const end = begin + values.size() / sizeof(T);
    const auto* const found = std::find_if(begin, end, [&](T value) {
      const auto x = static_cast<Compute<T>>(value);
      return infinite == Infinite::Allowed ? std::isnan(x) : !std::isfinite(x);
    });
    if (found == end) return std::nullopt;
    return NoNumber{.at = found - begin, .value = static_cast<double>(static_cast<Compute<T>>(*found))};
  });
}

std::vector<std::byte> converted(std::vector<std::byte> data, DType from, DType to) {
  if (from == to) return data;
  return for_float(from, [&](auto given) {
    return for_float(to, [&](auto wanted) {
      using From = decltype(given);
      using To = decltype(wanted);
      const auto* values = reinterpret_cast<const From*>(data.data());
      const std::size_t count = data.size() / sizeof(From);
      std::vector<std::byte> result(count * sizeof(To));
      std::transform(values, values + count, reinterpret_cast<To*>(result.data()), [&](From x) {
        const Compute<From> wide = x;
        const auto y = static_cast<To>(wide);
        if (!std::isfinite(compute(y)) && std::isfinite(wide))
          fail_as(Exit::Data, wide, " is too large for ", name_of(to));
        return y;
      });
      return result;
    });
  });
}

}  // namespace lethe
