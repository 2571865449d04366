#include "onnx/import_state.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "framework/error.h"
#include "onnx/bytes.h"

namespace lethe::onnx {
namespace {

/// A prime that no axis has: what is a multiple of it is made of samples. Constants may count them.
constexpr std::int64_t kManySamples = 7919;

/// Without an ending.
std::string before(const std::string& name, std::string_view ending) {
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : "";
}

bool is_whole(Type type) { return type == Type::i32 || type == Type::i64; }

/// The samples that the file says its inputs have; fails where they differ.
std::int64_t samples_of(const ReadModel& model, bool in_samples) {
  std::set<std::string> read;
  for (const ReadNode& node : model.nodes) read.insert(node.inputs.begin(), node.inputs.end());
  std::int64_t samples = kManySamples;
  for (const ValueInfo& input : model.inputs) {
    const auto* const size = input.shape.empty() ? nullptr : std::get_if<std::int64_t>(&input.shape[0]);
    if (!in_samples || !read.contains(input.name) || !size || *size <= 0) continue;
    check_as(Exit::Data, *size <= 1 << 20, "input ", quote(input.name), " has ", *size, " samples");
    check_as(Exit::Data, samples == kManySamples || samples == *size, "input ", quote(input.name), " has ", *size,
             " samples, another one ", samples, ": the first axis of each is the batch");
    samples = *size;
  }
  return samples;
}

}  // namespace

std::int64_t ImportState::open_batch() const { return in_samples_ && batch_ == kManySamples ? batch_ : 0; }

ImportState::ImportState(ReadModel given, Constants known, const ImportSetting& setting)
    : model(std::move(given)),
      constants(std::move(known)),
      in_samples_(setting.in_samples),
      batch_(samples_of(model, setting.in_samples)) {
  for (const ReadNode& node : model.nodes) check_as(Exit::Data, !node.outputs.empty(), node.text(), ": has no output");
  for (const ReadNode& node : model.nodes)
    for (const std::string& input : node.inputs) readers_[input].push_back(&node);
  for (const ValueInfo& input : model.inputs)
    if (readers_.contains(input.name)) add_input(input, setting);
}

void ImportState::add_input(const ValueInfo& input, const ImportSetting& setting) {
  const bool whole = is_whole(input.type), truth = input.type == Type::boolean;
  check_as(Exit::Data,
           whole || truth || input.type == Type::f32 || input.type == Type::f64 || bytes_of(input.type) == 2, "input ",
           quote(input.name), " has numbers of a type that no input has");
  check_as(Exit::Data, !in_samples_ || !input.shape.empty(), "input ", quote(input.name),
           " has no axes, not even the batch");
  Shape shape;
  std::int64_t count = 1;
  for (std::size_t axis = in_samples_ ? 1 : 0; axis < input.shape.size(); ++axis) {
    const auto* size = std::get_if<std::int64_t>(&input.shape[axis]);
    const auto* const named = std::get_if<std::string>(&input.shape[axis]);
    if (named)
      if (const auto given = setting.sizes.find(*named); given != setting.sizes.end()) size = &given->second;
    check_as(Exit::Data, size && *size > 0 && *size <= kMostOfAnAxis, "input ", quote(input.name), ": axis ", axis,
             " has no size",
             named && !named->empty() ? message(": `bind` says one, as ", *named, "=128") : std::string(),
             "; the batch alone may be without one");
    shape.push_back(*size);
    check_as(Exit::Data, shape.size() < 9 && count <= kMostNumbersOfASample / *size, "input ", quote(input.name),
             " would be ", text_of(shape), " a sample");
    count *= *size;
  }
  std::string name = input.name.empty() ? "input" : input.name;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) name = "input_" + name;
  name = free_name(name);
  const bool is_image = in_samples_ && shape.size() == 3 && !whole && !truth;
  Json said = {{"shape", shape}};
  if (shape.size() == 3 && !is_image) said["layout"] = "plain";
  if (whole) said["dtype"] = "i32";
  if (truth) said["dtype"] = "u8";
  LayerList::add_input(name, std::move(said), {shape, is_image, whole ? Type::i32 : truth ? Type::boolean : Type::f32});
  values_[input.name] = is_image ? image_view(name, shape) : of_plain(name, shape);
}

const View* ImportState::maybe_value(const ReadNode& node, std::size_t input) const {
  const auto found = input < node.inputs.size() ? values_.find(node.inputs[input]) : values_.end();
  return found == values_.end() ? nullptr : &found->second;
}

const View& ImportState::value(const ReadNode& node, std::size_t input) const {
  check_as(Exit::Data, input < node.inputs.size() && !node.inputs[input].empty(), node.text(), ": lacks input ", input);
  const View* const found = maybe_value(node, input);
  check_as(
      Exit::Data, found != nullptr, node.text(), ": its input ", quote(node.inputs[input]),
      constants.contains(node.inputs[input]) ? " is a constant, where a value was expected" : " is made by nothing");
  return *found;
}

std::string ImportState::text(const View& view) const {
  Shape sample = shape(view);
  if (is_batch(view, 0)) sample.erase(sample.begin());
  return text_of(sample) + (is_batch(view, 0) ? " a sample" : "");
}

const ReadTensor* ImportState::constant(const ReadNode& node, std::size_t input) const {
  return input < node.inputs.size() ? constants.find(node.inputs[input]) : nullptr;
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

Ints ImportState::integers(const ReadNode& node, std::size_t input, const char* attribute, const Ints& absent) const {
  const ReadTensor* const given = optional_constant(node, input);
  return given ? given->integers() : node.integers(attribute, absent);
}

bool ImportState::is_output(const std::string& name) const {
  return std::ranges::any_of(model.outputs, [&](const ValueInfo& out) { return out.name == name; });
}

const std::vector<const ReadNode*>& ImportState::readers(const std::string& name) const {
  static const std::vector<const ReadNode*> none;
  const auto found = readers_.find(name);
  return found == readers_.end() ? none : found->second;
}

const ReadNode* ImportState::only_reader(const std::string& name) const {
  const auto found = readers_.find(name);
  return is_output(name) || found == readers_.end() || found->second.size() != 1 ? nullptr : found->second.front();
}

std::string ImportState::name_of(const ReadNode& node) {
  for (const std::string& input : node.inputs)
    if (const WeightOrigin* const origin = constants.origin(input))
      if (const std::string layer = before(origin->tensor, ".weight"); !layer.empty()) return free_name(layer);
  const std::string& output = node.outputs.at(0);
  const std::string layer = before(output, ".y");
  return free_name(layer.empty() ? output : layer);
}

std::string ImportState::plain(const ReadNode& node, const View& view) {
  check_as(Exit::Data, is_batch(view, 0) == in_samples_ && has_batch(view) == in_samples_, node.text(),
           ": its input is ", text(view), ", whose first axis is not the batch alone");
  const View seen = simplified(view);
  Shape sample = shape(view);
  if (in_samples_) sample.erase(sample.begin());
  return restated(in_order(seen, order_of(seen)), {sample});
}

std::string ImportState::image(const ReadNode& node, const View& view) {
  const View seen = simplified(view);
  check_as(Exit::Data, seen.axes.size() == 4 && is_batch(seen, 0), node.text(), ": its input is ", text(view),
           ", expected an image");
  Ints order;
  for (const std::size_t axis : {2, 3, 1}) order.insert(order.end(), seen.axes[axis].begin(), seen.axes[axis].end());
  Shape sample = shape(seen);
  sample.erase(sample.begin());
  return restated(in_order(seen, order), {sample, true});
}

View ImportState::along(const View& view, std::size_t axis) {
  const View seen = simplified(view);
  const Ints& last = seen.axes[axis];
  Ints order;
  for (std::int64_t part = 0; part < std::ssize(seen.memory); ++part)
    if (std::ranges::count(last, part) == 0) order.push_back(part);
  for (const std::int64_t part : last) {
    check_as(Exit::Data, part != kBatchAxis, "along the batch, which is not read");
    order.push_back(part);
  }
  View ordered = in_order(seen, order);
  const std::int64_t size = size_of(ordered, axis, batch_);
  const Shape now = stated(ordered.layer).memory();
  if (!now.empty() && now.back() == size) return ordered;
  Shape shape(ordered.memory.begin(), ordered.memory.end() - std::ssize(last));
  shape.push_back(size);
  ordered.layer = restated(ordered, {shape});
  return ordered;
}

void ImportState::give_like(const ReadNode& node, Json entry, const View& view, Type type) {
  if (!entry.contains("name")) entry["name"] = name_of(node);
  Stated as = stated(view.layer);
  as.type = type;
  View made = view;
  made.layer = add("", std::move(entry), {view.layer}, as);
  give(node, made);
}

void ImportState::give_image(const ReadNode& node, Json entry, const std::string& in, const Shape& chw) {
  if (!entry.contains("name")) entry["name"] = name_of(node);
  give(node, image_view(add("", std::move(entry), {in}, {chw, true}), chw));
}

View ImportState::of_plain(const std::string& layer, const Shape& sample) const {
  View view = plain_view(layer, sample);
  if (!in_samples_) view.axes.erase(view.axes.begin());
  return view;
}

void ImportState::give_plain(const ReadNode& node, Json entry, const std::vector<std::string>& in,
                             const Shape& sample) {
  if (!entry.contains("name")) entry["name"] = name_of(node);
  give(node, of_plain(add("", std::move(entry), in, {sample}), sample));
}

void ImportState::add_weight(const std::string& name, Shape shape, std::vector<float> values, const std::string& of,
                             bool transposed) {
  if (const WeightOrigin* const origin = constants.origin(of))
    result.origins.push_back(
        {name, origin->tensor, origin->transposed != transposed, constants.find(origin->tensor)->shape});
  result.weights.push_back({name, {Type::f32, std::move(shape), bytes_of_values(values)}});
}

std::string ImportState::parameter(const std::string& name, const std::string& of, const Stated& as,
                                   std::vector<float> values, bool copies) {
  Json entry = {{"op", "parameter"}, {"shape", as.shape}};
  if (copies) entry["expand"] = true;
  if (as.shape.size() == 3) entry["layout"] = as.is_image ? "image" : "plain";
  if (!constants.origin(of)) entry["trainable"] = false;
  const Json& inputs = result.network["inputs"];
  const std::string made = add(name, entry, {inputs.begin().key()}, as);
  Shape shape = as.shape;
  shape.insert(shape.begin(), 1);
  // A file of weights has finite numbers: the lowest one hides as much as -inf.
  constexpr float most = std::numeric_limits<float>::max();
  for (float& value : values) value = std::isnan(value) ? value : std::clamp(value, -most, most);
  add_weight(made + ".weight", shape, std::move(values), of);
  return made;
}

}  // namespace lethe::onnx
