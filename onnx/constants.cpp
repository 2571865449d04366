#include "onnx/constants.h"

#include <set>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/fold.h"
#include "onnx/import_numbers.h"

namespace lethe::onnx {
namespace {

constexpr std::int64_t kMostFolded = std::int64_t{1} << 32;  // bytes, of all together

/// Without the axis of samples where all of these are the same.
ReadTensor of_one_sample(ReadTensor tensor, std::int64_t samples) {
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    if (tensor.shape[axis] != samples) continue;
    Ints strides = strides_in(tensor.shape);
    Shape one = tensor.shape;
    one[axis] = 1;
    const ReadTensor first = strided(tensor, one, strides);
    strides = strides_in(one), strides[axis] = 0;
    if (strided(first, tensor.shape, strides).data == tensor.data) tensor = first;
  }
  return tensor;
}

}  // namespace

Constants::Constants(std::map<std::string, ReadTensor> tensors) : tensors_(std::move(tensors)) {
  for (const auto& [name, tensor] : tensors_) origins_[name] = {name};
}

const ReadTensor* Constants::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

const WeightOrigin* Constants::origin(const std::string& name) const {
  const auto found = origins_.find(name);
  return found == origins_.end() ? nullptr : &found->second;
}

std::optional<double> Constants::number(const std::string& name) const {
  const ReadTensor* const tensor = find(name);
  if (!tensor || count_of(tensor->shape) != 1) return {};
  return tensor->is_float() ? as_written(tensor->floats().at(0)) : Array::of(*tensor).numbers.at(0);
}

void Constants::add(const ReadNode& node, ReadTensor tensor) {
  folded_ += std::ssize(tensor.data);
  check_as(Exit::Data, folded_ <= kMostFolded, node.text(), ": makes more constants than are read");
  tensors_[node.outputs.at(0)] = std::move(tensor);
}

bool Constants::is_table(const ReadNode& node) const {
  if (node.type != "Gather" || node.inputs.size() != 2 || node.integer("axis", 0) != 0) return false;
  const ReadTensor *const table = find(node.inputs[0]), *const index = find(node.inputs[1]);
  if (!table || !index || !origin(node.inputs[0]) || table->shape.size() != 2 || !table->is_float() ||
      !index->is_integer())
    return false;
  const Ints places = index->integers();
  if (places.size() < 2 || places[0] < 0 || places[0] >= table->shape[0]) return false;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i] != places[0] + static_cast<std::int64_t>(i)) return false;
  return places.size() > 1 && places[0] >= 0 && places.back() < table->shape[0];
}

bool Constants::fold(const ReadNode& node, std::int64_t samples) {
  std::vector<const ReadTensor*> in;
  for (const std::string& input : node.inputs) {
    in.push_back(input.empty() ? nullptr : find(input));
    if (!input.empty() && !in.back()) return false;
  }
  if (is_table(node)) return false;
  std::vector<ReadTensor> made = folded(node, in, samples);
  if (made.empty()) return false;
  static const std::set<std::string> same_elements = {"Identity", "Cast", "Dropout", "Reshape", "Squeeze", "Unsqueeze"};
  const WeightOrigin* const origin = node.inputs.empty() ? nullptr : this->origin(node.inputs[0]);
  const bool is_turned = node.type == "Transpose" && made[0].shape.size() == 2;
  if (origin && made[0].is_float() && (same_elements.contains(node.type) || is_turned))
    origins_[node.outputs.at(0)] = {origin->tensor, origin->transposed != is_turned};
  add(node, samples > 1 ? of_one_sample(std::move(made[0]), samples) : std::move(made[0]));
  return true;
}

}  // namespace lethe::onnx
