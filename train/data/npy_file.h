// An array in a file of NumPy's (numpy.save): format 1.0 and 2.0, of f4, f8, i4, i8, u1 and b1, little-endian, rows
// first (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
#pragma once
#include <string>
#include <vector>

#include "framework/language/program.h"
#include "train/data/mapped_file.h"

namespace lethe {

class NpyFile {
 public:
  /// Fails with Exit::Data, saying what was expected, unless it is such a file with at least one row.
  explicit NpyFile(const std::string& path);
  const std::string& path() const { return path_; }
  const Shape& shape() const { return shape_; }  // of at least one axis
  std::int64_t rows() const { return shape_[0]; }
  std::int64_t row_elements() const { return elements(shape_) / shape_[0]; }
  /// Writes the elements of a row as `dtype` has them, in the order of their places in the row, or as they stand if
  /// there is none. Fails with Exit::Data, naming the element, where that has no such number. May be called from
  /// several threads.
  void read(std::int64_t row, const std::vector<std::int32_t>& places, DType dtype, std::byte* to) const;

 private:
  std::string path_;
  MappedFile file_;
  std::string type_ = {};  // "f4"
  Shape shape_ = {};
  std::size_t begin_ = 0;  // of the elements
};

}  // namespace lethe
