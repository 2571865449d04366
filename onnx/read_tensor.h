// Tensors in ONNX files of others.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "framework/language/program.h"
#include "onnx/model.h"

namespace lethe::onnx {

/// Numbers of a file, little-endian as in memory.
struct ReadTensor {
  Type type = Type::f32;
  Shape shape = {};
  std::vector<std::byte> data = {};

  bool is_float() const;  // f32, f64, f16 or bf16
  bool is_integer() const { return type == Type::i32 || type == Type::i64; }
  /// Fail unless they are whole numbers; floats, rounded to f32.
  std::vector<std::int64_t> integers() const;
  std::vector<float> floats() const;
};

struct NamedTensor {
  std::string name;
  ReadTensor tensor;
};
/// Of a TensorProto. Its numbers are in it, or in a file of that folder. Fails with Exit::Data unless it has as many as
/// its shape says.
NamedTensor read_tensor(std::string_view message, const std::filesystem::path& folder);

/// ONNX's TensorProto.DataType as a type; fails with Exit::Data, after `what`, for one that is not read.
Type type_of_number(std::int64_t number, const std::string& what);

}  // namespace lethe::onnx
