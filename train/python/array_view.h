// An array of somebody else's, NumPy's or PyTorch's, as memory with strides; and how its rows become samples of an
// input.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "framework/builder/network.h"

namespace lethe {

enum class Element : std::uint8_t { f32, f64, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64, b1 };
std::int64_t bytes_of(Element element);

struct ArrayView {
  std::string name = {};  // for messages
  const std::byte* data = nullptr;
  Element element = Element::f32;
  Shape shape = {};    // rows first
  Shape strides = {};  // in bytes
};

/// One that feeds an input: its rows are samples, images as [C, H, W].
class InputArray {
 public:
  /// Fails with Exit::Data unless rows have the shape that the input takes.
  InputArray(ArrayView array, const Network& network, VarId input);
  const std::string& name() const { return array_.name; }
  std::int64_t rows() const { return array_.shape[0]; }
  std::int64_t sample_bytes() const { return sample_bytes_; }
  DType dtype() const { return dtype_; }
  /// Whether rows stand in memory as they are fed, so that nothing need be copied.
  bool is_as_fed() const { return as_fed_; }
  const std::byte* row(std::int64_t row) const { return array_.data + row * array_.strides[0]; }
  /// Writes a row as it is fed. Fails with Exit::Data, naming array and row, where the input has no such number.
  void read(std::int64_t row, std::byte* to) const;

 private:
  struct Axis {
    std::int64_t size, stride;
  };
  template <class Write>
  void each_run(std::int64_t row, const Write& write) const;

  ArrayView array_;
  DType dtype_;
  std::int64_t sample_bytes_;
  std::vector<Axis> axes_ = {};  // of a sample, in the order of its memory; those that go on evenly are one
  bool same_type_, as_fed_;
};

/// All elements, one after another in the order of the shape; of whatever type they are.
std::vector<std::byte> packed(const ArrayView& array);

}  // namespace lethe
