#include "tests/support/onnx_text.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "framework/error.h"

namespace lethe::testing {
namespace {

/// The fields of a message, by number, each in its order.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : left_(bytes) {
    while (!left_.empty()) {
      const std::uint64_t key = varint();
      Value value;
      switch (key & 7) {
        case 0:
          value.number = varint();
          break;
        case 2:
          value.bytes = take(varint());
          break;
        default:
          check((key & 7) == 5, "protobuf: a field of kind ", key & 7);
          value.bytes = take(4);
      }
      fields_[static_cast<int>(key >> 3)].push_back(value);
    }
  }
  struct Value {
    std::uint64_t number = 0;
    std::string_view bytes = {};
  };
  const std::vector<Value>& all(int field) const {
    static const std::vector<Value> none;
    const auto found = fields_.find(field);
    return found == fields_.end() ? none : found->second;
  }
  std::int64_t number(int field) const {
    return all(field).empty() ? 0 : static_cast<std::int64_t>(all(field).back().number);
  }
  std::string_view bytes(int field) const { return all(field).empty() ? "" : all(field).back().bytes; }
  std::string text(int field) const { return std::string(bytes(field)); }
  /// Packed numbers.
  static std::vector<std::int64_t> numbers(std::string_view bytes) {
    Fields of("");
    of.left_ = bytes;
    std::vector<std::int64_t> values;
    while (!of.left_.empty()) values.push_back(static_cast<std::int64_t>(of.varint()));
    return values;
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint64_t byte = static_cast<std::uint8_t>(take(1)[0]);
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string_view take(std::uint64_t count) {
    check(count <= left_.size(), "protobuf: the message ends within a field");
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }

  std::string_view left_;
  std::map<int, std::vector<Value>> fields_;
};

float float_at(std::string_view bytes) {
  float value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

template <class Values>
std::string listed(const Values& values) {
  std::string text;
  for (const auto& value : values) text += message(text.empty() ? "" : ",", value);
  return text;
}

std::string type_name(std::int64_t type) {
  static const std::map<std::int64_t, const char*> names = {{1, "f32"},  {2, "u8"},   {6, "i32"},  {7, "i64"},
                                                            {9, "bool"}, {10, "f16"}, {11, "f64"}, {16, "bf16"}};
  const auto found = names.find(type);
  return found == names.end() ? message("type ", type) : found->second;
}

std::string value_line(const char* what, std::string_view bytes) {
  const Fields info(bytes), type(Fields(info.bytes(2)).bytes(1)), shape(type.bytes(2));
  std::vector<std::string> axes;
  for (const auto& axis : shape.all(1)) {
    const Fields of(axis.bytes);
    axes.push_back(of.all(2).empty() ? std::to_string(of.number(1)) : of.text(2));
  }
  return message(what, " ", info.text(1), " ", type_name(type.number(1)), "[", listed(axes), "]\n");
}

std::string tensor_line(std::string_view bytes) {
  const Fields tensor(bytes);
  std::string where;
  for (const auto& pair : tensor.all(13)) where += " " + Fields(pair.bytes).text(1) + "=" + Fields(pair.bytes).text(2);
  if (where.empty()) where = message(" ", tensor.text(9).size(), " bytes");
  const std::vector<std::int64_t> shape =
      tensor.all(1).empty() ? std::vector<std::int64_t>{} : Fields::numbers(tensor.all(1).back().bytes);
  return message("tensor ", tensor.text(8), " ", type_name(tensor.number(2)), "[", listed(shape), "]", where, "\n");
}

std::string attribute_text(std::string_view bytes) {
  const Fields attribute(bytes);
  std::string value;
  switch (attribute.number(20)) {
    case 1:
      value = message(float_at(attribute.all(2).back().bytes));
      break;
    case 2:
      value = std::to_string(attribute.number(3));
      break;
    case 3:
      value = attribute.text(4);
      break;
    default:
      check(attribute.number(20) == 7, "an attribute of type ", attribute.number(20));
      value = message("[", listed(Fields::numbers(attribute.all(8).back().bytes)), "]");
  }
  return attribute.text(1) + "=" + value;
}

std::string node_line(std::string_view bytes) {
  const Fields node(bytes);
  std::vector<std::string> in, out, attributes;
  for (const auto& name : node.all(1)) in.emplace_back(name.bytes);
  for (const auto& name : node.all(2)) out.emplace_back(name.bytes);
  for (const auto& attribute : node.all(5)) attributes.push_back(attribute_text(attribute.bytes));
  return message(listed(out), " = ", node.text(4), "(", listed(in), ")",
                 attributes.empty() ? "" : message(" {", listed(attributes), "}"), "\n");
}

}  // namespace

std::string onnx_tensor(const std::string& bytes, const std::string& name) {
  const Fields graph(Fields(bytes).bytes(7));
  for (const auto& tensor : graph.all(5))
    if (Fields(tensor.bytes).text(8) == name) return Fields(tensor.bytes).text(9);
  fail("no tensor ", name);
}

std::string onnx_text(const std::string& bytes) {
  const Fields model(bytes), graph(model.bytes(7));
  std::string text = message("ir ", model.number(1), ", opset ", Fields(model.bytes(8)).number(2), ", by ",
                             model.text(2), "; ", graph.text(2), "\n");
  for (const auto& pair : model.all(14)) text += Fields(pair.bytes).text(1) + ": " + Fields(pair.bytes).text(2) + "\n";
  for (const auto& value : graph.all(11)) text += value_line("input", value.bytes);
  for (const auto& value : graph.all(12)) text += value_line("output", value.bytes);
  for (const auto& node : graph.all(1)) text += node_line(node.bytes);
  for (const auto& tensor : graph.all(5)) text += tensor_line(tensor.bytes);
  for (const auto& value : graph.all(13)) text += value_line("value", value.bytes);
  return text;
}

}  // namespace lethe::testing
