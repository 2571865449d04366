#include <algorithm>
#include <cmath>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/import_heads.h"
#include "onnx/import_tables.h"

namespace lethe::onnx {

bool is_causal_mask(const ReadTensor& mask) {
  const Array all = Array::of(mask);
  const std::size_t rank = all.shape.size();
  if (rank < 2 || all.shape[rank - 1] != all.shape[rank - 2] || all.shape[rank - 1] < 2) return false;
  if (count_of(all.shape) != all.shape[rank - 1] * all.shape[rank - 1]) return false;
  constexpr double kHidden = -1e4;  // what exporters write for "minus infinity", at least
  const std::int64_t n = all.shape[rank - 1];
  for (std::int64_t row = 0; row < n; ++row)
    for (std::int64_t column = 0; column < n; ++column) {
      const double value = all.numbers[static_cast<std::size_t>(row * n + column)];
      if (column <= row ? value != 0 : value > kHidden) return false;
    }
  return true;
}

bool hides_a_row(const std::vector<float>& mask, std::int64_t keys) {
  for (auto row = mask.begin(); row != mask.end(); row += keys)
    if (std::all_of(row, row + keys, [](float number) { return number == -INFINITY; })) return true;
  return false;
}

std::string mask_layer(ImportState& state, const ReadNode& node, const Heads& heads) {
  if (!heads.mask_is_constant) {
    check_as(Exit::Data, state.has_value(heads.mask), node.text(), ": its mask is made by nothing");
    View view = state.made(heads.mask);
    check_as(Exit::Data, view.axes.size() == heads.rank && heads.rank >= 2, node.text(), ": a mask ", state.text(view),
             " for scores of ", heads.rank, " axes");
    while (view.axes.size() < 4) view = with_one(view, 1);
    const std::string layer = state.plain(node, view);
    if (state.stated(layer).type == Type::f32) return layer;
    // Truth values: hidden where they are not.
    const Stated as{state.stated(layer).shape};
    const std::string zero = state.add(heads.mask + ".zero", {{"op", "cast"}, {"dtype", "f32"}}, {layer}, as);
    return state.add(heads.mask + ".hidden", {{"op", "log"}}, {zero}, as);
  }
  const ReadTensor& mask = *state.constants.find(heads.mask);
  Shape shape = mask.shape;
  while (shape.size() > 3) {
    check_as(Exit::Data, shape.front() == 1, node.text(), ": its mask is ", text_of(mask.shape),
             ", another for each sample");
    shape.erase(shape.begin());
  }
  shape.insert(shape.begin(), 3 - shape.size(), 1);
  std::vector<float> numbers = Array::of(mask).as(Type::f32).floats();
  const std::string name = node.outputs[0] + ".mask";
  if (!hides_a_row(numbers, shape.back())) return state.parameter(name, heads.mask, {shape}, std::move(numbers));
  // Such a row gives zeros, for which it takes -inf, which no file of weights has: the logarithm of 0 is.
  std::vector<float> seen;
  for (float& number : numbers) {
    seen.push_back(number == -INFINITY ? 0.0F : 1.0F);
    number = number == -INFINITY ? 0 : number;
  }
  const std::string truth = state.parameter(name + ".seen", "", {shape}, std::move(seen));
  const std::string hidden = state.add(name + ".hidden", {{"op", "log"}}, {truth}, {shape});
  const std::string others = state.parameter(name, "", {shape}, std::move(numbers));
  return state.add(name + ".both", {{"op", "add"}}, {others, hidden}, {shape});
}

void hide_by_numbers(ImportState& state, const ReadNode& node, Heads& heads) {
  const ReadTensor* const mask = heads.mask_is_constant ? state.constants.find(heads.mask) : nullptr;
  if (!mask || mask->is_float()) return;
  ReadNode step = node;
  step.outputs = {node.outputs[0] + ".hidden"};
  state.constants.add(step,
                      each(Array::of(*mask), [](double seen) { return seen != 0 ? 0 : -INFINITY; }).as(Type::f32));
  heads.mask = step.outputs[0];
}

void hide_later_keys(ImportState& state, const ReadNode& node, Heads& heads, std::int64_t rows, std::int64_t keys) {
  check_as(Exit::Data, rows <= 1 << 13 && keys <= 1 << 13, node.text(), ": hides keys of ", rows, " rows from ", keys);
  Array hidden{{rows, keys}, {}};
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t key = 0; key < keys; ++key) hidden.numbers.push_back(key <= row + heads.before ? 0 : -INFINITY);
  heads.causal = false;
  ReadNode step = node;
  step.outputs = {node.outputs[0] + ".later"};
  state.constants.add(step, hidden.as(Type::f32));
  if (heads.mask.empty()) {
    heads.mask = step.outputs[0], heads.mask_is_constant = true;
    return;
  }
  step.type = "Add", step.inputs = {heads.mask, step.outputs[0]}, step.outputs = {node.outputs[0] + ".either"};
  if (!state.constants.fold(step, 0)) import_by_type(state, step);
  heads.mask = step.outputs[0];
}

}  // namespace lethe::onnx
