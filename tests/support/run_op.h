// One op in double on the CPU, from values to values.
#pragma once
#include <vector>

#include "framework/error.h"
#include "framework/executor.h"
#include "framework/op_def.h"
#include "kernels/cpu_device.h"

namespace lethe::testing {

struct Tensor {
  Shape shape;
  std::vector<double> values;
  bool operator==(const Tensor&) const = default;
};

/// 1, 2, 3, ... in a shape.
inline Tensor counted(const Shape& shape) {
  Tensor tensor{shape, {}};
  for (std::int64_t i = 0; i < elements(shape); ++i) tensor.values.push_back(static_cast<double>(i + 1));
  return tensor;
}

/// The op's first output. An input of no values is absent.
inline Tensor run_op(const std::string& type, const std::vector<Tensor>& inputs, const Attrs& attrs = {}) {
  Program program;
  std::vector<VarId> in;
  for (const Tensor& tensor : inputs)
    in.push_back(
        tensor.values.empty()
            ? kNone
            : add_var(program, {.name = "in", .shape = tensor.shape, .dtype = DType::f64, .kind = Kind::Input}));
  const VarId out = append_op(program, 0, Role::Forward, type, in, attrs, "op").front();
  const auto device = open_cpu(2);
  Store store(*device);
  Prepared prepared(device->info());
  Executor executor(program, plan_none(program, prepared), prepared, store);
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in[i] != kNone) executor.feed(in[i], inputs[i].values.data(), bytes_of(program.vars[in[i]]));
  executor.run();
  Tensor result{program.vars[out].shape,
                std::vector<double>(static_cast<std::size_t>(elements(program.vars[out].shape)))};
  executor.fetch(out, result.values.data(), bytes_of(program.vars[out]));
  return result;
}

/// The shape rule's complaint about inputs of these shapes, without the op's name in front; "" if it has none.
inline std::string complaint(const std::string& type, const std::vector<Shape>& shapes, const Attrs& attrs = {}) {
  Program program;
  std::vector<VarId> in;
  for (const Shape& shape : shapes) in.push_back(add_var(program, {.name = "in", .shape = shape, .kind = Kind::Input}));
  try {
    append_op(program, 0, Role::Forward, type, in, attrs, "op");
  } catch (const Error& error) {
    return std::string(error.what()).substr(std::string_view("op: ").size());
  }
  return "";
}

}  // namespace lethe::testing
