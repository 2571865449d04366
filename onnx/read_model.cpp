#include "onnx/read_model.h"

#include <filesystem>
#include <fstream>

#include "framework/error.h"
#include "onnx/wire.h"

namespace lethe::onnx {
namespace {

constexpr std::int64_t kFirstOpset = 7, kLastOpset = 23;

/// Of an AttributeProto: its name and value.
std::pair<std::string, ReadValue> attribute_of(std::string_view bytes, const ReadNode& node,
                                               const std::filesystem::path& folder) {
  std::string name;
  std::int64_t type = 0, integer = 0;
  float number = 0;
  std::string text;
  ReadTensor tensor;
  bool has_tensor = false;
  std::vector<std::int64_t> integers;
  std::vector<float> numbers;
  for (MessageReader in(bytes); in.next();) switch (in.field()) {
      case 1:
        name = in.text();
        break;
      case 2:
        number = in.number_in_four_bytes();
        break;
      case 3:
        integer = in.number();
        break;
      case 4:
        text = in.text();
        break;
      case 5:
        tensor = read_tensor(in.bytes(), folder).tensor;
        has_tensor = true;
        break;
      case 7:
        in.add_numbers(numbers);
        break;
      case 8:
        in.add_numbers(integers);
        break;
      case 20:
        type = in.number();
        break;
      default:
        check_as(Exit::Data, in.field() == 13, node.text(), ": attribute ", quote(name),
                 " is of a kind that is not read (graphs, several texts or tensors)");
    }
  switch (type) {
    case 1:
      return {name, number};
    case 2:
      return {name, integer};
    case 3:
      return {name, text};
    case 4:
      check_as(Exit::Data, has_tensor, node.text(), ": attribute ", quote(name), " has no tensor");
      return {name, tensor};
    case 6:
      return {name, numbers};
    default:
      check_as(Exit::Data, type == 7, node.text(), ": attribute ", quote(name), " is of type ", type);
      return {name, integers};
  }
}

ReadNode node_of(std::string_view bytes, const std::filesystem::path& folder) {
  ReadNode node;
  std::string domain;
  std::vector<std::string_view> attributes;
  for (MessageReader in(bytes); in.next();) switch (in.field()) {
      case 1:
        node.inputs.push_back(in.text());
        break;
      case 2:
        node.outputs.push_back(in.text());
        break;
      case 3:
        node.name = in.text();
        break;
      case 4:
        node.type = in.text();
        break;
      case 5:
        attributes.push_back(in.bytes());
        break;
      case 7:
        domain = in.text();
        break;
      default:
        break;  // texts for people
    }
  check_as(Exit::Data, domain.empty() || domain == "ai.onnx", node.text(), ": is an operator of ", quote(domain),
           ", of which none is known");
  for (const std::string_view attribute : attributes) node.attributes.insert(attribute_of(attribute, node, folder));
  return node;
}

ValueInfo value_of(std::string_view bytes) {
  ValueInfo info;
  std::string_view tensor, shape;
  for (MessageReader in(bytes); in.next();) {
    if (in.field() == 1) info.name = in.text();
    if (in.field() != 2) continue;
    for (MessageReader type(in.bytes()); type.next();)
      if (type.field() == 1) tensor = type.bytes();
  }
  for (MessageReader in(tensor); in.next();) {
    if (in.field() == 1) info.type = type_of_number(in.number(), quote(info.name));
    if (in.field() == 2) shape = in.bytes();
  }
  for (MessageReader in(shape); in.next();) {
    Extent extent = std::string();
    for (MessageReader axis(in.bytes()); axis.next();) {
      if (axis.field() == 1) extent = axis.number();
      if (axis.field() == 2) extent = axis.text();
    }
    info.shape.push_back(extent);
  }
  return info;
}

void take_graph(ReadModel& model, std::string_view bytes, const std::filesystem::path& folder) {
  std::vector<ValueInfo> inputs;
  for (MessageReader in(bytes); in.next();) switch (in.field()) {
      case 1:
        model.nodes.push_back(node_of(in.bytes(), folder));
        break;
      case 2:
        model.name = in.text();
        break;
      case 5: {
        NamedTensor tensor = read_tensor(in.bytes(), folder);
        model.tensors[tensor.name] = std::move(tensor.tensor);
        break;
      }
      case 11:
        inputs.push_back(value_of(in.bytes()));
        break;
      case 12:
        model.outputs.push_back(value_of(in.bytes()));
        break;
      default:
        check_as(Exit::Data, in.field() != 15, "has tensors that are sparse, which are not read");
    }
  for (ValueInfo& input : inputs)
    if (!model.tensors.contains(input.name)) model.inputs.push_back(std::move(input));
}

std::string content_of(const std::string& file) {
  std::ifstream in;
  if (std::filesystem::is_regular_file(file)) in.open(file, std::ios::binary | std::ios::ate);
  check_as(Exit::Data, in.is_open(), "cannot be opened");
  const auto size = static_cast<std::int64_t>(in.tellg());
  check_as(Exit::Data, size < std::int64_t{1} << 31, "is larger than a protobuf message may be");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  in.seekg(0);
  in.read(bytes.data(), size);
  check_as(Exit::Data, in.good(), "cannot be read");
  return bytes;
}

ReadModel parsed(const std::string& file) {
  const std::string bytes = content_of(file);
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  ReadModel model;
  std::string_view graph;
  for (MessageReader in(bytes); in.next();) switch (in.field()) {
      case 7:
        graph = in.bytes();
        break;
      case 8: {
        std::string domain;
        std::int64_t version = 0;
        for (MessageReader opset(in.bytes()); opset.next();) {
          if (opset.field() == 1) domain = opset.text();
          if (opset.field() == 2) version = opset.number();
        }
        if (domain.empty() || domain == "ai.onnx") model.opset = version;
        break;
      }
      default:
        check_as(Exit::Data, in.field() != 25, "has functions, which are not read");
    }
  check_as(Exit::Data, !graph.empty(), "is no ONNX model: it has no graph");
  check_as(Exit::Data, model.opset >= kFirstOpset && model.opset <= kLastOpset, "is of opset ", model.opset,
           ", opsets ", kFirstOpset, " to ", kLastOpset, " are read");
  take_graph(model, graph, folder);
  return model;
}

template <class T>
const T& value_in(const ReadNode& node, const std::string& key) {
  const T* const value = std::get_if<T>(&node.attributes.at(key));
  check_as(Exit::Data, value != nullptr, node.text(), ": attribute ", quote(key), " is of another type");
  return *value;
}

}  // namespace

std::string ReadNode::text() const {
  const std::string& named = !name.empty() ? name : outputs.empty() ? name : outputs.front();
  return shortened(type) + " " + quote(shortened(named));
}

std::int64_t ReadNode::integer(const std::string& key, std::int64_t absent) const {
  return has(key) ? value_in<std::int64_t>(*this, key) : absent;
}
float ReadNode::number(const std::string& key, float absent) const {
  return has(key) ? value_in<float>(*this, key) : absent;
}
std::string ReadNode::word(const std::string& key, const std::string& absent) const {
  return has(key) ? value_in<std::string>(*this, key) : absent;
}
Ints ReadNode::integers(const std::string& key, const Ints& absent) const {
  return has(key) ? value_in<Ints>(*this, key) : absent;
}

ReadModel read_model(const std::string& file) {
  try {
    return parsed(file);
  } catch (const Error& error) {
    fail_as(error.code, file, ": ", error.what());
  }
}

}  // namespace lethe::onnx
