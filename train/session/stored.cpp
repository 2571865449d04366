#include "train/session/stored.h"

#include <algorithm>
#include <numeric>

#include "framework/error.h"
#include "kernels/dtypes.h"

namespace lethe {
namespace {

/// Values seen as [outer, h, w, c] in memory and [outer, c, h, w] in the file.
struct Image {
  std::int64_t outer, h, w, c;
};

/// A matrix with its columns as rows.
Image transposed_matrix(std::int64_t rows, std::int64_t columns) { return {1, rows, 1, columns}; }

enum class Direction { ToFile, ToMemory };

template <class Element>
std::vector<std::byte> reordered(const std::vector<std::byte>& data, const Image& image, Direction direction) {
  std::vector<std::byte> result(data.size());
  const auto* from = reinterpret_cast<const Element*>(data.data());
  auto* to = reinterpret_cast<Element*>(result.data());
  std::int64_t in_file = 0;
  for (std::int64_t o = 0; o < image.outer; ++o)
    for (std::int64_t c = 0; c < image.c; ++c)
      for (std::int64_t pixel = 0; pixel < image.h * image.w; ++pixel, ++in_file) {
        const std::int64_t in_memory = (o * image.h * image.w + pixel) * image.c + c;
        if (direction == Direction::ToFile)
          to[in_file] = from[in_memory];
        else
          to[in_memory] = from[in_file];
      }
  return result;
}

std::vector<std::byte> reordered(const std::vector<std::byte>& data, DType dtype, const Image& image,
                                 Direction direction) {
  switch (bytes_of(dtype)) {
    case 8:
      return reordered<std::uint64_t>(data, image, direction);
    case 4:
      return reordered<std::uint32_t>(data, image, direction);
    case 2:
      return reordered<std::uint16_t>(data, image, direction);
    default:
      return reordered<std::uint8_t>(data, image, direction);
  }
}

std::vector<std::byte> in_layout(std::vector<std::byte> data, const Stored& stored, Direction direction) {
  const FileLayout& layout = stored.layout;
  const Shape& shape = stored.var.shape;
  if (layout.kind == FileLayout::Same) return data;
  const Image image = layout.kind == FileLayout::Conv ? Image{shape[0], shape[1], shape[2], shape[3]}
                                                      : Image{shape[0], layout.hwc[0], layout.hwc[1], layout.hwc[2]};
  check_as(Exit::Internal, elements({image.outer, image.h, image.w, image.c}) == elements(shape),
           quote(stored.var.name), " is ", text_of(shape), ", which no images of ", image.h, 'x', image.w, 'x', image.c,
           " fill");
  return reordered(data, stored.var.dtype, image, direction);
}

/// The whole in the file's layout.
Shape file_shape(const Stored& stored) {
  const Shape& shape = stored.var.shape;
  if (!stored.shape.empty()) return stored.shape;
  return stored.layout.kind == FileLayout::Conv ? Shape{shape[0], shape[3], shape[1], shape[2]} : shape;
}

/// The rows of each tensor, before it is transposed.
std::vector<Shape> shapes_of_parts(const Stored& stored) {
  const Shape whole = file_shape(stored);
  if (stored.rows.empty()) return {whole};
  std::vector<Shape> shapes(stored.rows.size(), whole);
  for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i][0] = stored.rows[i];
  return shapes;
}

}  // namespace

std::vector<TensorEntry> tensors_of(const Stored& stored) {
  std::vector<TensorEntry> tensors;
  for (Shape& shape : shapes_of_parts(stored)) {
    if (stored.transposed) std::swap(shape[0], shape[1]);
    tensors.push_back({.name = stored.names[tensors.size()], .dtype = stored.var.dtype, .shape = std::move(shape)});
  }
  return tensors;
}

std::vector<std::vector<std::byte>> to_file(const Stored& stored, std::vector<std::byte> value) {
  const std::vector<std::byte> whole = in_layout(std::move(value), stored, Direction::ToFile);
  std::vector<std::vector<std::byte>> tensors;
  auto next = whole.begin();
  for (const Shape& shape : shapes_of_parts(stored)) {
    const auto end = next + static_cast<std::ptrdiff_t>(elements(shape) * bytes_of(stored.var.dtype));
    tensors.emplace_back(next, end);
    next = end;
    if (stored.transposed)
      tensors.back() =
          reordered(tensors.back(), stored.var.dtype, transposed_matrix(shape[0], shape[1]), Direction::ToFile);
  }
  return tensors;
}

std::vector<std::byte> to_memory(const Stored& stored, const std::vector<std::vector<std::byte>>& tensors) {
  std::vector<std::byte> whole;
  whole.reserve(static_cast<std::size_t>(bytes_of(stored.var)));
  const std::vector<Shape> shapes = shapes_of_parts(stored);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Image matrix = stored.transposed ? transposed_matrix(shapes[i][0], shapes[i][1]) : Image{};
    const std::vector<std::byte> part =
        stored.transposed ? reordered(tensors[i], stored.var.dtype, matrix, Direction::ToMemory) : tensors[i];
    whole.insert(whole.end(), part.begin(), part.end());
  }
  return in_layout(std::move(whole), stored, Direction::ToMemory);
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
      std::transform(values, values + count, reinterpret_cast<To*>(result.data()),
                     [](From x) { return static_cast<To>(static_cast<Compute<From>>(x)); });
      return result;
    });
  });
}

}  // namespace lethe
