// Constants of a model as numbers that can be computed with: shapes, masks, positions, and small tables.
#pragma once
#include <functional>
#include <vector>

#include "onnx/read_tensor.h"

namespace lethe::onnx {

/// Numbers of any type as f64, which holds all but huge whole ones exactly.
struct Array {
  Shape shape;
  std::vector<double> numbers;

  /// Fails for more than 2^27 numbers.
  static Array of(const ReadTensor& tensor);
  /// As a tensor of that type; fails for numbers that a whole type does not hold.
  ReadTensor as(Type type) const;
};

std::int64_t count_of(const Shape& shape);
/// The result's shape by numpy's rules; fails if there is none.
Shape broadcast_shape(const Shape& a, const Shape& b);
Array broadcast(const Array& x, const Shape& shape);
Array pairwise(const Array& a, const Array& b, const std::function<double(double, double)>& f);
Array each(Array x, const std::function<double(double)>& f);
/// Folds the given axes, which keep size 1.
Array reduced(const Array& x, const std::vector<bool>& axes, double first,
              const std::function<double(double, double)>& f);

/// Elements of a tensor in another arrangement, whatever their type: element i of the result, whose shape is `shape`,
/// is at `offset` and `strides` (in elements) of x.
ReadTensor strided(const ReadTensor& x, const Shape& shape, const Ints& strides, std::int64_t offset = 0);
Ints strides_in(const Shape& shape);  // in elements, of a tensor without gaps
ReadTensor turned(const ReadTensor& x, const Ints& perm);
/// Those places of an axis; negative ones count from its end.
ReadTensor gathered(const ReadTensor& x, std::size_t axis, const Ints& places, const std::string& what);

}  // namespace lethe::onnx
