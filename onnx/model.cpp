#include "onnx/model.h"

#include <algorithm>
#include <numeric>

#include "onnx/wire.h"

namespace lethe::onnx {
namespace {

constexpr std::int64_t kLeastExternal = 1024, kAlignment = std::int64_t{64} << 10;  // of external data, bytes

Message message_of(const Extent& extent) {
  Message dimension;
  if (const auto* size = std::get_if<std::int64_t>(&extent))
    dimension.number(1, *size);
  else
    dimension.text(2, std::get<std::string>(extent));
  return dimension;
}

Message message_of(const ValueInfo& value) {
  Message shape, tensor, type, info;
  for (const Extent& extent : value.shape) shape.message(1, message_of(extent));
  tensor.number(1, static_cast<std::int64_t>(value.type));
  tensor.message(2, shape);
  type.message(1, tensor);
  info.text(1, value.name);
  info.message(2, type);
  return info;
}

/// How each kind of attribute is written: its field, and AttributeProto.AttributeType.
struct WriteAttribute {
  Message& to;
  void operator()(std::int64_t value) const { to.number(3, value), kind(2); }
  void operator()(float value) const { to.number(2, value), kind(1); }
  void operator()(const std::string& value) const { to.text(4, value), kind(3); }
  void operator()(const std::vector<std::int64_t>& values) const { to.numbers(8, values), kind(7); }
  void operator()(const std::vector<float>& values) const { to.numbers(7, values), kind(6); }
  void kind(std::int64_t type) const { to.number(20, type); }
};

Message message_of(const Node& node, std::int64_t place) {
  Message message;
  for (const std::string& input : node.inputs) message.text(1, input);
  for (const std::string& output : node.outputs) message.text(2, output);
  message.text(3, node.type + "_" + std::to_string(place));
  message.text(4, node.type);
  for (const auto& [name, value] : node.attributes) {
    Message attribute;
    attribute.text(1, name);
    std::visit(WriteAttribute{attribute}, value);
    message.message(5, attribute);
  }
  return message;
}

Message pair_of(const std::string& key, const std::string& value) {
  Message pair;
  pair.text(1, key);
  pair.text(2, value);
  return pair;
}

/// A tensor but for its numbers.
Message head_of(const Tensor& tensor) {
  Message message;
  message.numbers(1, tensor.shape);
  message.number(2, static_cast<std::int64_t>(tensor.type));
  message.text(8, tensor.name);
  return message;
}

/// The same where its numbers stand in another file.
Message external_of(const Tensor& tensor, const std::string& file, std::int64_t offset) {
  Message message = head_of(tensor);
  message.message(13, pair_of("location", file));
  message.message(13, pair_of("offset", std::to_string(offset)));
  message.message(13, pair_of("length", std::to_string(tensor.bytes())));
  message.number(14, std::int64_t{1});  // EXTERNAL
  return message;
}

/// A part of the graph's message, and the numbers after it, of one tensor.
struct Piece {
  std::string bytes;
  const Tensor* tensor = nullptr;
};

void put(const Sink& to, const std::string& bytes) { to(bytes.data(), std::ssize(bytes)); }

constexpr int kInitializer = 5;  // of GraphProto

/// Writes those tensors that are large enough, and says where in the graph.
std::vector<Piece> pieces_of(const std::vector<Tensor>& tensors, const ExternalData* external) {
  std::vector<Piece> pieces;
  std::int64_t end = 0;
  for (const Tensor& tensor : tensors) {
    Message field;
    if (external && tensor.bytes() >= kLeastExternal) {
      const std::int64_t offset = (end + kAlignment - 1) / kAlignment * kAlignment;
      put(external->to, std::string(static_cast<std::size_t>(offset - end), '\0'));
      tensor.write(external->to);
      end = offset + tensor.bytes();
      field.message(kInitializer, external_of(tensor, external->name, offset));
      pieces.push_back({field.bytes()});
      continue;
    }
    Message head = head_of(tensor);
    head.begin_bytes(9, tensor.bytes());
    field.begin_bytes(kInitializer, head.size() + tensor.bytes());
    pieces.push_back({field.bytes() + head.bytes(), &tensor});
  }
  return pieces;
}

}  // namespace

std::int64_t bytes_of(Type type) {
  switch (type) {
    case Type::u8:
    case Type::boolean:
      return 1;
    case Type::f16:
    case Type::bf16:
      return 2;
    case Type::i64:
    case Type::f64:
      return 8;
    default:
      return 4;
  }
}

std::int64_t Tensor::bytes() const {
  return std::accumulate(shape.begin(), shape.end(), bytes_of(type), std::multiplies<>());
}

std::int64_t ir_version_of(std::int64_t opset) { return opset >= 23 ? 11 : opset >= 21 ? 10 : opset >= 19 ? 9 : 8; }

std::int64_t bytes_of_tensors(const Model& model) {
  std::int64_t bytes = 0;
  for (const Tensor& tensor : model.tensors) bytes += tensor.bytes();
  return bytes;
}

void write_model(const Model& model, const std::string& producer_version, const Sink& to,
                 const ExternalData* external) {
  Message graph;
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    graph.message(1, message_of(model.nodes[i], static_cast<std::int64_t>(i)));
  graph.text(2, model.name);
  for (const ValueInfo& value : model.inputs) graph.message(11, message_of(value));
  for (const ValueInfo& value : model.outputs) graph.message(12, message_of(value));
  for (const ValueInfo& value : model.values) graph.message(13, message_of(value));
  const std::vector<Piece> pieces = pieces_of(model.tensors, external);
  std::int64_t size = graph.size();
  for (const Piece& piece : pieces)
    size += static_cast<std::int64_t>(piece.bytes.size()) + (piece.tensor ? piece.tensor->bytes() : 0);

  Message head, opset;
  head.number(1, ir_version_of(model.opset));
  head.text(2, "lethe");
  head.text(3, producer_version);
  opset.text(1, "");
  opset.number(2, model.opset);
  head.message(8, opset);
  for (const auto& [key, value] : model.metadata) head.message(14, pair_of(key, value));
  head.begin_bytes(7, size);
  put(to, head.bytes());
  put(to, graph.bytes());
  for (const Piece& piece : pieces) {
    put(to, piece.bytes);
    if (piece.tensor) piece.tensor->write(to);
  }
}

}  // namespace lethe::onnx
