// ONNX models: the bytes, and what becomes of their nodes.
#include "onnx/importer.h"
#include "onnx/model.h"
#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz::onnx_target {
namespace {

onnx::Tensor zeros(const std::string& name, const Shape& shape) {
  onnx::Tensor tensor{name, onnx::Type::f32, shape, {}};
  const auto bytes = static_cast<std::size_t>(tensor.bytes());
  tensor.write = [bytes](const onnx::Sink& to) {
    const std::string data(bytes, '\0');
    to(data.data(), std::ssize(data));
  };
  return tensor;
}

onnx::Tensor numbers(const std::string& name, const Ints& values) {
  return {name, onnx::Type::i64, {std::ssize(values)}, [values](const onnx::Sink& to) {
            to(values.data(), std::ssize(values) * std::int64_t{sizeof(std::int64_t)});
          }};
}

std::string written(const onnx::Model& model) {
  std::string bytes;
  onnx::write_model(
      model, "1", [&](const void* data, std::int64_t count) { bytes.append(static_cast<const char*>(data), count); },
      nullptr);
  return bytes;
}

Material material() {
  const Ints two = {2, 2}, pads = {0, 0, 1, 1};
  const onnx::Model image{
      .name = "n",
      .nodes = {{"Conv", {"x", "c.weight", "c.bias"}, {"c.y"}, {{"strides", two}, {"pads", pads}}},
                {"BatchNormalization", {"c.y", "s", "s", "s", "s"}, {"b"}, {{"epsilon", 1e-5F}}},
                {"MaxPool", {"b"}, {"p"}, {{"kernel_shape", two}, {"strides", two}, {"pads", pads}}},
                {"Concat", {"p", "p"}, {"d"}, {{"axis", std::int64_t{1}}}},
                {"Reshape", {"d", "to"}, {"r"}},
                {"Gemm", {"r", "g.weight"}, {"y"}, {{"transB", std::int64_t{1}}}}},
      .tensors = {zeros("c.weight", {4, 2, 3, 3}), zeros("c.bias", {4}), zeros("s", {4}), numbers("to", {0, -1}),
                  zeros("g.weight", {3, 32})},
      .inputs = {{"x", onnx::Type::f32, {std::string("batch"), 2, 9, 9}}},
      .outputs = {{"y", onnx::Type::f32, {std::string("batch"), 3}}}};
  const onnx::Model rows{.opset = 23,
                         .name = "n",
                         .nodes = {{"Gather", {"t", "x"}, {"e"}},
                                   {"MatMul", {"e", "w"}, {"m"}},
                                   {"Add", {"m", "b"}, {"a"}},
                                   {"Slice", {"a", "from", "to", "last"}, {"q"}},
                                   {"Attention",
                                    {"q", "q", "q"},
                                    {"y"},
                                    {{"q_num_heads", std::int64_t{2}}, {"kv_num_heads", std::int64_t{1}}}}},
                         .tensors = {zeros("t", {5, 4}), zeros("w", {4, 8}), zeros("b", {8}), numbers("from", {0}),
                                     numbers("to", {4}), numbers("last", {-1})},
                         .inputs = {{"x", onnx::Type::i32, {std::string("batch"), 3}}},
                         .outputs = {{"y", onnx::Type::f32, {std::string("batch"), 3, 4}}}};
  const onnx::Model bare{.name = "n",
                         .nodes = {{"Shape", {"x"}, {"s"}},
                                   {"Gather", {"s", "i"}, {"g"}},
                                   {"Concat", {"g", "i"}, {"to"}, {{"axis", std::int64_t{0}}}},
                                   {"Sum", {"x", "x"}, {"a"}},
                                   {"Clip", {"a", "", "i"}, {"b"}},
                                   {"LayerNormalization", {"b", "w", "w"}, {"y"}},
                                   {"Softmax", {"y"}, {"z"}}},
                         .tensors = {zeros("w", {4}), numbers("i", {0})},
                         .inputs = {{"x", onnx::Type::f32, {std::string("batch"), 4}}},
                         .outputs = {{"z", onnx::Type::f32, {std::string("batch"), 4}}}};
  const onnx::Model apart{.name = "n",
                          .nodes = {{"Reshape", {"x", "heads"}, {"h"}},
                                    {"Transpose", {"h"}, {"q"}, {{"perm", Ints{0, 2, 1, 3}}}},
                                    {"Transpose", {"h"}, {"k"}, {{"perm", Ints{0, 2, 3, 1}}}},
                                    {"MatMul", {"q", "k"}, {"s"}},
                                    {"Trilu", {"ones"}, {"l"}, {{"upper", std::int64_t{0}}}},
                                    {"Equal", {"l", "zero"}, {"hidden"}},
                                    {"Where", {"hidden", "low", "s"}, {"m"}},
                                    {"Softmax", {"m"}, {"p"}, {{"axis", std::int64_t{-1}}}},
                                    {"MatMul", {"p", "q"}, {"o"}},
                                    {"ReduceMax", {"o"}, {"y"}, {{"axes", Ints{1}}, {"keepdims", std::int64_t{0}}}},
                                    {"Split", {"y"}, {"a", "b"}, {{"axis", std::int64_t{2}}}},
                                    {"Expand", {"a", "to"}, {"e"}},
                                    {"Sub", {"e", "b"}, {"z"}}},
                          .tensors = {numbers("heads", {0, 3, 2, 2}), zeros("ones", {3, 3}), zeros("zero", {1}),
                                      zeros("low", {1}), numbers("to", {1, 1, 1})},
                          .inputs = {{"x", onnx::Type::f32, {std::string("batch"), 3, 4}}},
                          .outputs = {{"z", onnx::Type::f32, {std::string("batch"), 3, 1}}}};
  return {.seeds = {written(image), written(rows), written(bare), written(apart)},
          .words = {"Resize",
                    "Range",
                    "Tile",
                    "Gather",
                    "GatherND",
                    "Compress",
                    "CumSum",
                    "PRelu",
                    "GroupNormalization",
                    "LpPool",
                    "Hardmax",
                    "SoftmaxCrossEntropyLoss",
                    "scales",
                    "perm",
                    "ConvTranspose",
                    "BatchNormalization",
                    "Squeeze",
                    "Slice",
                    "Cast",
                    "Dropout",
                    "LRN",
                    "ReduceMean",
                    "GlobalAveragePool",
                    "Mul",
                    "Div",
                    "Identity",
                    "Flatten",
                    "DepthToSpace",
                    "output_padding",
                    "to",
                    "Conv",
                    "Gemm",
                    "Reshape",
                    "Concat",
                    "Add",
                    "Shape",
                    "Constant",
                    "ConstantOfShape",
                    "Unsqueeze",
                    "Pad",
                    "AveragePool",
                    "kernel_shape",
                    "auto_pad",
                    "SAME_UPPER",
                    "axis",
                    "axes",
                    "value",
                    "group",
                    "location",
                    "offset",
                    "\x08\x01",
                    "\x10\x07"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static Directory directory;
  const std::string file = directory.put("model.onnx", text_of(data, size));
  for (const bool in_samples : {true, false})
    reads({Exit::Data}, [&] {
      onnx::imported(onnx::read_model(file), {.loss = in_samples ? "cross_entropy" : "", .in_samples = in_samples})
          .network.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    });
}

const RegisterTarget target{{"onnx", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::onnx_target
