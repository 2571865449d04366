// The part of ONNX that networks are written in (onnx.ai, onnx.proto), as values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lethe::onnx {

/// TensorProto.DataType.
enum class Type : std::int32_t { f32 = 1, u8 = 2, i32 = 6, i64 = 7, boolean = 9, f16 = 10, f64 = 11, bf16 = 16 };
std::int64_t bytes_of(Type type);

/// Of an axis: so many, or a number that has a name.
using Extent = std::variant<std::int64_t, std::string>;

/// What is said of a value: its numbers and its axes.
struct ValueInfo {
  std::string name;
  Type type = Type::f32;
  std::vector<Extent> shape = {};
};

/// Takes bytes one after another.
using Sink = std::function<void(const void*, std::int64_t)>;

/// Numbers that are part of the model. `write` gives them as they lie in memory, little-endian: bytes() of them.
struct Tensor {
  std::string name;
  Type type = Type::f32;
  std::vector<std::int64_t> shape = {};
  std::function<void(const Sink&)> write = {};
  std::int64_t bytes() const;
};

using AttributeValue = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>>;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// An absent input is "".
struct Node {
  std::string type;
  std::vector<std::string> inputs, outputs;
  Attributes attributes = {};
};

struct Model {
  std::int64_t opset = 17;
  std::string name;  // of the graph
  std::vector<Node> nodes = {};
  std::vector<Tensor> tensors = {};
  std::vector<ValueInfo> inputs = {}, outputs = {}, values = {};  // values: of what is between
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

/// The IR version that came with an opset.
std::int64_t ir_version_of(std::int64_t opset);

/// Where tensors of 1 KiB or more stand, if not in the model itself: a file beside it.
struct ExternalData {
  std::string name;  // of the file, as the model says it
  Sink to;
};

/// Writes the model; `external`: null if all tensors stand in it. Such tensors begin at multiples of 64 KiB.
void write_model(const Model& model, const std::string& producer_version, const Sink& to, const ExternalData* external);

/// Bytes of all tensors.
std::int64_t bytes_of_tensors(const Model& model);

}  // namespace lethe::onnx
