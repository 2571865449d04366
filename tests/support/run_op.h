// One op on the CPU, from values to values.
#pragma once
#include <map>
#include <vector>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/run/executor.h"
#include "kernels/cpu/device.h"
#include "tests/support/values.h"

namespace lethe::testing {

struct Tensor {
  Shape shape;
  std::vector<double> values;
  DType dtype = DType::f64;
  bool operator==(const Tensor&) const = default;
};

/// 1, 2, 3, ... in a shape.
inline Tensor counted(const Shape& shape, DType dtype = DType::f64) {
  Tensor tensor{shape, {}, dtype};
  for (std::int64_t i = 0; i < elements(shape); ++i) tensor.values.push_back(static_cast<double>(i + 1));
  return tensor;
}

/// One of the op's outputs. An input of no values is absent.
inline Tensor run_op(const std::string& type, const std::vector<Tensor>& inputs, const Attrs& attrs = {},
                     std::size_t output = 0) {
  Program program;
  std::vector<VarId> in;
  for (const Tensor& tensor : inputs)
    in.push_back(
        tensor.values.empty()
            ? kNone
            : add_var(program, {.name = "in", .shape = tensor.shape, .dtype = tensor.dtype, .kind = Kind::Input}));
  const VarId out = append_op(program, 0, Role::Forward, type, in, attrs, "op")[output];
  const auto device = open_cpu(2);
  Store store(*device);
  Prepared prepared(*device);
  Executor executor(program, plan_none(program, workspaces_of(program, prepared)), prepared, store);
  std::vector<std::byte> bytes;
  const auto take = [&](VarId v) { bytes.resize(static_cast<std::size_t>(bytes_of(program.vars[v]))); };
  for (std::size_t slot = 0; slot < in.size(); ++slot) {
    if (in[slot] == kNone) continue;
    take(in[slot]);
    const Tensor& given = inputs[slot];
    for (std::size_t i = 0; i < given.values.size(); ++i)
      set_number(given.dtype, bytes.data(), static_cast<std::int64_t>(i), given.values[i]);
    executor.feed(in[slot], bytes.data(), bytes_of(program.vars[in[slot]]));
  }
  executor.run();
  take(out);
  executor.fetch(out, bytes.data(), bytes_of(program.vars[out]));
  Tensor result{program.vars[out].shape, {}, program.vars[out].dtype};
  for (std::int64_t i = 0; i < elements(result.shape); ++i)
    result.values.push_back(number_at(result.dtype, bytes.data(), i));
  return result;
}

/// The shape rule's complaint about inputs of these shapes, without the op's name in front; "" if it has none. All are
/// f32 but those in `dtypes`.
inline std::string complaint(const std::string& type, const std::vector<Shape>& shapes, const Attrs& attrs = {},
                             const std::map<int, DType>& dtypes = {}) {
  Program program;
  std::vector<VarId> in;
  for (const Shape& shape : shapes) in.push_back(add_var(program, {.name = "in", .shape = shape, .kind = Kind::Input}));
  for (const auto& [slot, dtype] : dtypes) program.vars[in[static_cast<std::size_t>(slot)]].dtype = dtype;
  try {
    append_op(program, 0, Role::Forward, type, in, attrs, "op");
  } catch (const Error& error) {
    return std::string(error.what()).substr(std::string_view("op: ").size());
  }
  return "";
}

}  // namespace lethe::testing
