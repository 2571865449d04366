#include "onnx/import_state.h"

#include <algorithm>
#include <cctype>

#include "framework/error.h"
#include "onnx/bytes.h"

namespace lethe::onnx {
namespace {

constexpr std::int64_t kMostOfAnAxis = std::int64_t{1} << 31, kMostNumbersOfASample = std::int64_t{1} << 40;
constexpr std::int64_t kMostFolded = std::int64_t{1} << 32;

/// In letters that names of layers may have: slashes are of blocks.
std::string in_letters(std::string name) {
  for (char& c : name)
    if (c == '/')
      c = '.';
    else if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '.')
      c = '_';
  name = name.substr(0, 90);
  while (!name.empty() && name.front() == '.') name.erase(0, 1);
  return name.empty() ? "layer" : name;
}

/// Without an ending.
std::string before(const std::string& name, std::string_view ending) {
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : "";
}

}  // namespace

ImportState::ImportState(ReadModel given) : model(std::move(given)), constants_(std::move(model.tensors)) {
  for (const ReadNode& node : model.nodes) check_as(Exit::Data, !node.outputs.empty(), node.text(), ": has no output");
  for (const ReadNode& node : model.nodes)
    for (const std::string& input : node.inputs) readers_[input].push_back(&node);
  for (const ValueInfo& input : model.inputs) {
    if (!readers_.contains(input.name)) continue;
    const bool is_whole = input.type == Type::i32 || input.type == Type::i64;
    check_as(Exit::Data, is_whole || input.type == Type::f32 || input.type == Type::f64 || bytes_of(input.type) == 2,
             "input ", quote(input.name), " has numbers of a type that no input has");
    check_as(Exit::Data, input.shape.size() > 1, "input ", quote(input.name), " has no axes but the batch");
    Shape shape;
    for (std::size_t axis = 1; axis < input.shape.size(); ++axis) {
      const auto* const size = std::get_if<std::int64_t>(&input.shape[axis]);
      check_as(Exit::Data, size && *size > 0 && *size <= kMostOfAnAxis, "input ", quote(input.name), ": axis ", axis,
               " has no size; the batch alone may be without one");
      shape.push_back(*size);
    }
    std::string name = in_letters(input.name);
    std::ranges::replace_if(
        name, [](char c) { return c == '.' || c == '-'; }, '_');
    if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) name = "input_" + name;
    name = unique(name);
    result.network["inputs"][name] = {{"shape", shape}};
    if (is_whole) result.network["inputs"][name]["dtype"] = "i32";
    values_[input.name] = {name, shape};
  }
}

const LayerValue& ImportState::value(const ReadNode& node, std::size_t input) const {
  check_as(Exit::Data, input < node.inputs.size() && !node.inputs[input].empty(), node.text(), ": lacks input ", input);
  const auto found = values_.find(node.inputs[input]);
  check_as(
      Exit::Data, found != values_.end(), node.text(), ": its input ", quote(node.inputs[input]),
      constants_.contains(node.inputs[input]) ? " is a constant, where a value was expected" : " is made by nothing");
  return found->second;
}

LayerValue ImportState::image(const ReadNode& node, std::size_t input) {
  const LayerValue value = this->value(node, input);
  check_as(Exit::Data, static_cast<int>(value.shape.size()) + value.ones == 3, node.text(), ": its input is ",
           text_of(value.shape), " a sample, expected an image");
  if (value.ones == 0) return value;
  return add(value.layer + ".image", {{"op", "reshape"}, {"shape", {value.shape[0], 1, 1}}, {"layout", "image"}},
             {value}, {value.shape[0], 1, 1});
}

const ReadTensor* ImportState::constant(const ReadNode& node, std::size_t input) const {
  if (input >= node.inputs.size()) return nullptr;
  const auto found = constants_.find(node.inputs[input]);
  return found == constants_.end() ? nullptr : &found->second;
}

const ReadTensor& ImportState::needed(const ReadNode& node, std::size_t input, const char* what) const {
  const ReadTensor* const tensor = constant(node, input);
  check_as(Exit::Data, tensor != nullptr, node.text(), ": its ", what, " is no constant of the file");
  return *tensor;
}

const ReadTensor* ImportState::optional_constant(const ReadNode& node, std::size_t input) const {
  if (input >= node.inputs.size() || node.inputs[input].empty()) return nullptr;
  return &needed(node, input, "setting");
}

bool ImportState::is_output(const std::string& name) const {
  return std::ranges::any_of(model.outputs, [&](const ValueInfo& out) { return out.name == name; });
}

const ReadNode* ImportState::only_reader(const std::string& name) const {
  const auto found = readers_.find(name);
  return is_output(name) || found == readers_.end() || found->second.size() != 1 ? nullptr : found->second.front();
}

bool ImportState::is_for_products(const std::string& name, int depth) const {
  constexpr int kDeepest = 100;  // of a stranger's chain
  static const std::set<std::string> keep_order = {"Relu",    "Dropout", "Identity", "LeakyRelu",
                                                   "Sigmoid", "Tanh",    "Clip"};
  const auto found = readers_.find(name);
  if (depth > kDeepest || is_output(name) || found == readers_.end()) return false;
  return std::ranges::all_of(found->second, [&](const ReadNode* node) {
    if (node->inputs[0] == name && keep_order.contains(node->type)) return is_for_products(node->outputs[0], depth + 1);
    return (node->type == "Gemm" || node->type == "MatMul") && node->inputs[0] == name && constant(*node, 1) != nullptr;
  });
}

bool ImportState::begins_with_batch(const Ints& shape) const {
  if (shape.empty() || shape[0] == 0 || shape[0] == -1) return !shape.empty();
  return std::ranges::any_of(
      model.inputs, [&](const ValueInfo& input) { return !input.shape.empty() && input.shape[0] == Extent(shape[0]); });
}

void ImportState::fold(const ReadNode& node, ReadTensor tensor) {
  folded_ += std::ssize(tensor.data);
  check_as(Exit::Data, folded_ <= kMostFolded, node.text(), ": makes more constants than are read");
  constants_[node.outputs.at(0)] = std::move(tensor);
}

std::string ImportState::unique(std::string name) {
  std::string made = name;
  for (int& number = numbers_.try_emplace(name, 2).first->second; !names_.insert(made).second; ++number)
    made = message(name, ".", number);
  return made;
}

std::string ImportState::name_of(const ReadNode& node) {
  for (const std::string& input : node.inputs)
    if (const std::string layer = before(input, ".weight"); !layer.empty() && constants_.contains(input))
      return unique(in_letters(layer));
  const std::string& output = node.outputs.at(0);
  const std::string layer = before(output, ".y");
  return unique(in_letters(layer.empty() ? output : layer));
}

LayerValue ImportState::add(const std::string& name, Json entry, const std::vector<LayerValue>& in, Shape shape) {
  Json layer = {{"op", entry["op"]}};
  if (in.size() == 1) layer["in"] = in[0].layer;
  if (in.size() > 1)
    for (const LayerValue& value : in) layer["in"].push_back(value.layer);
  for (const auto& [key, value] : entry.items())
    if (key != "op" && key != "name") layer[key] = value;
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    check_as(Exit::Data, size >= 1 && size <= kMostOfAnAxis && count <= kMostNumbersOfASample / size, "would be ",
             text_of(shape), " a sample");
    count *= size;
  }
  layer["name"] = entry.contains("name") ? entry["name"].get<std::string>() : unique(name);
  result.network["layers"].push_back(layer);
  result.shapes[layer["name"]] = shape;
  return {layer["name"], std::move(shape)};
}

void ImportState::give(const ReadNode& node, Json entry, const std::vector<LayerValue>& in, Shape shape, int ones) {
  if (!entry.contains("name")) entry["name"] = name_of(node);
  LayerValue made = add("", std::move(entry), in, std::move(shape));
  made.ones = ones;
  pass(node, made);
}

void ImportState::add_weight(const std::string& name, Shape shape, std::vector<float> values) {
  result.weights.push_back({name, {Type::f32, std::move(shape), bytes_of_values(values)}});
}

}  // namespace lethe::onnx
