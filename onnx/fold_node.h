// What the folds of constants share.
#pragma once
#include <algorithm>
#include <map>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/read_model.h"

namespace lethe::onnx {

constexpr std::int64_t kMostMade = std::int64_t{1} << 30;  // bytes that a file's few numbers may become

/// A node of constants alone, and what it asks for.
struct Folding {
  const ReadNode& node;
  const std::vector<const ReadTensor*>& in;
  std::int64_t samples;

  const ReadTensor& x(std::size_t i = 0) const {
    check_as(Exit::Data, i < in.size() && in[i], node.text(), ": lacks input ", i);
    return *in[i];
  }
  bool has(std::size_t i) const { return i < in.size() && in[i]; }
  Ints ints(std::size_t input, const char* attribute, const Ints& absent = {}) const {
    return has(input) ? x(input).integers() : node.integers(attribute, absent);
  }
  /// An axis, counted from the front.
  std::size_t axis(std::int64_t axis, std::int64_t rank) const {
    const std::int64_t at = axis < 0 ? axis + rank : axis;
    check_as(Exit::Data, at >= 0 && at < rank, node.text(), ": an axis ", axis, " of ", rank);
    return static_cast<std::size_t>(at);
  }
  /// Fails for a shape of so many bytes an element that is too large.
  void check_size(const Shape& shape, std::int64_t bytes) const {
    check_as(Exit::Data, shape.size() < 9, node.text(), ": makes ", shape.size(), " axes");
    for (const std::int64_t size : shape) {
      check_as(Exit::Data, size >= 0 && size <= kMostMade && (size == 0 || bytes <= kMostMade / size), node.text(),
               ": of ", text_of(shape), " is too large");
      bytes *= std::max<std::int64_t>(size, 1);
    }
  }
  /// A shape to be made: not too large, and without the samples that no constant has.
  Shape made(Shape shape, std::int64_t bytes) const {
    for (std::int64_t& size : shape)
      if (samples > 1 && size > 0 && size % samples == 0) size = 1;
    check_size(shape, bytes);
    return shape;
  }
};

using Fold = ReadTensor (*)(const Folding&);
using FoldTable = std::map<std::string, Fold>;
/// Those that give the same numbers in another arrangement.
void add_moves(FoldTable& table);

}  // namespace lethe::onnx
