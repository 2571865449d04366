// Ops that move numbers, and sums over axes.
#include <algorithm>
#include <cmath>
#include <set>

#include "framework/error.h"
#include "kernels/positions.h"
#include "onnx/op_table.h"

namespace lethe::onnx {
namespace {

/// Adds the value and what is made of it element by element, as long as all else that reads them are products that know
/// of the image: then rows may be in ONNX's order of channels, height, width.
bool add_until_products(const Emitter& e, VarId flat, std::vector<VarId>& to) {
  static const std::set<std::string> keep_order = {"relu", "assign", "sigmoid", "tanh", "gelu", "silu", "leaky_relu"};
  const Network& network = e.network();
  const auto is_of_image = [&](VarId weight) {
    const auto info = std::ranges::find(network.params, weight, &ParamInfo::var);
    return info != network.params.end() && info->layout.kind == FileLayout::FlatImage;
  };
  if (flat == network.prediction || std::ranges::count(network.outputs, flat) > 0) return false;
  to.push_back(flat);
  bool is_read = false;
  for (const Op& op : network.program.blocks[0].ops) {
    if (std::ranges::count(op.in, flat) == 0) continue;
    is_read = true;
    if (op.type == "fc" && op.in[0] == flat && is_of_image(op.in[1])) continue;
    if (!keep_order.contains(op.type) || !add_until_products(e, op.out[0], to)) return false;
  }
  return is_read;
}

void flatten(Emitter& e, const Op& op) {
  std::vector<VarId> rows;
  if (!e.is_image(op.in[0]) || !add_until_products(e, op.out[0], rows))
    return e.give(op.out[0], "Reshape", {e.in_memory_order(op.in[0]), e.shape_in_memory(op.out[0])});
  e.set_channels_first(rows);
  e.give(op.out[0], "Flatten", {e.value(op.in[0])}, {{"axis", std::int64_t{1}}});
}

/// The same memory.
void reshape(Emitter& e, const Op& op) {
  const Shape& to = e.shape(op.out[0]);
  if (e.is_image(op.out[0]) && e.shape(op.in[0]).size() == 2 && to[1] == 1 && to[2] == 1)  // as a global pool leaves it
    return e.give(op.out[0], "Reshape", {e.value(op.in[0]), e.integers({-1, to[3], 1, 1})});
  e.give_in_memory_order(op.out[0], "Reshape", {e.in_memory_order(op.in[0]), e.shape_in_memory(op.out[0])});
}

void transpose(Emitter& e, const Op& op) {
  e.give_in_memory_order(op.out[0], "Transpose", {e.in_memory_order(op.in[0])}, {{"perm", op.attrs.ints("perm")}});
}

void concat(Emitter& e, const Op& op) {
  Names inputs;
  for (const VarId in : op.in) inputs.push_back(e.in_axes_of(op.out[0], in));
  e.give(op.out[0], "Concat", inputs, {{"axis", e.axis(op.out[0], op.attrs.integer("axis"))}});
}

void slice(Emitter& e, const Op& op) {
  e.give(op.out[0], "Slice",
         {e.in_axes_of(op.out[0], op.in[0]), e.integers({op.attrs.integer("begin")}),
          e.integers({op.attrs.integer("end")}), e.integers({e.axis(op.out[0], op.attrs.integer("axis"))})});
}

void pad(Emitter& e, const Op& op) {
  const VarId x = op.in[0];
  const Ints &before = op.attrs.ints("before"), &after = op.attrs.ints("after");
  const std::size_t rank = e.shape(x).size();
  Ints pads(2 * rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::size_t>(e.axis(x, static_cast<std::int64_t>(i)));
    pads[axis] = before[i], pads[rank + axis] = after[i];
  }
  e.give(op.out[0], "Pad", {e.value(x), e.integers(pads), e.number(op.attrs.number("value", 0))});
}

/// Of the whole, or over axes.
auto reduction(const char* type, std::int64_t axes_are_input_from) {
  return [type, axes_are_input_from](Emitter& e, const Op& op) {
    const VarId x = op.in[0];
    const bool keeps = op.attrs.flag("keep_dims", false);
    Attributes attributes = {{"keepdims", std::int64_t{keeps}}};
    if (!op.attrs.has("axes")) return e.give(op.out[0], type, {e.value(x)}, attributes);
    // What is left of an image without an axis has its axes as in memory.
    Ints axes = op.attrs.ints("axes");
    if (keeps)
      for (std::int64_t& axis : axes) axis = e.axis(x, axis);
    Names inputs = {keeps ? e.value(x) : e.in_memory_order(x)};
    if (e.opset() >= axes_are_input_from)
      inputs.push_back(e.integers(axes));
    else
      attributes.push_back({"axes", axes});
    e.give(op.out[0], type, inputs, attributes);
  };
}

void embedding(Emitter& e, const Op& op) { e.give(op.out[0], "Gather", {e.value(op.in[1]), e.value(op.in[0])}); }

/// Repeats what has size 1, the one sample that stands for all, too.
void expand(Emitter& e, const Op& op) {
  const VarId y = op.out[0];
  const Ints rest(e.shape(y).begin() + 1, e.shape(y).end());
  const std::string first = e.depends_on_batch(y) ? e.batch_size() : e.integers({e.shape(y)[0]});
  const std::string shape =
      rest.empty() ? first : e.node("Concat", {first, e.integers(rest)}, {{"axis", std::int64_t{0}}});
  e.give_in_memory_order(y, "Expand", {e.in_memory_order(op.in[0]), shape});
}

/// Listed places of an axis.
void gather(Emitter& e, const Op& op) {
  e.give(op.out[0], "Gather", {e.in_axes_of(op.out[0], op.in[0]), e.integers(op.attrs.ints("indices"))},
         {{"axis", e.axis(op.out[0], op.attrs.integer("axis"))}});
}

void running_sum(Emitter& e, const Op& op) {
  e.give(op.out[0], "CumSum", {e.value(op.in[0]), e.integers({e.axis(op.in[0], op.attrs.integer("axis"))})},
         {{"exclusive", std::int64_t{op.attrs.flag("exclusive", false)}},
          {"reverse", std::int64_t{op.attrs.flag("reverse", false)}}});
}

void fill_constant(Emitter& e, const Op& op) {
  const VarId y = op.out[0];
  const double value = op.attrs.number("value");
  const bool is_whole = e.type_of(y) == Type::i32 || e.type_of(y) == Type::i64;
  const std::string one = is_whole ? e.integer_like(y, static_cast<std::int64_t>(value)) : e.number(value);
  if (e.shape(y).empty()) return e.give_value(y, one);
  Ints rest(e.shape(y).begin() + 1, e.shape(y).end());
  const std::string first = e.depends_on_batch(y) ? e.batch_size() : e.integers({e.shape(y)[0]});
  e.give_in_memory_order(
      y, "Expand",
      {one, rest.empty() ? first : e.node("Concat", {first, e.integers(rest)}, {{"axis", std::int64_t{0}}})});
}

/// Angles of positions: sines, then cosines.
void sinusoidal_positions(Emitter& e, const Op& op) {
  const std::int64_t length = op.attrs.integer("length"), width = op.attrs.integer("width");
  const PositionAngles angles(op.attrs.number("base"), width);
  std::vector<double> values;
  for (std::int64_t p = 0; p < length; ++p)
    for (std::int64_t i = 0; i < width; ++i)
      values.push_back(i % 2 == 0 ? std::sin(angles(p, i / 2)) : std::cos(angles(p, i / 2)));
  e.give_value(op.out[0], e.numbers(e.shape(op.out[0]), values));
}

void arange(Emitter& e, const Op& op) {
  const VarId y = op.out[0];
  const bool is_whole = e.type_of(y) == Type::i32 || e.type_of(y) == Type::i64;
  Ints values;
  for (std::int64_t i = 0; i < elements(e.shape(y)); ++i)
    values.push_back(op.attrs.integer("start") + i * op.attrs.integer("step"));
  if (!is_whole) return e.give_value(y, e.numbers(e.shape(y), {values.begin(), values.end()}));
  const std::string shaped = e.node("Reshape", {e.integers(values), e.integers(e.shape(y))});
  e.give(y, "Cast", {shaped}, {{"to", static_cast<std::int64_t>(e.type_of(y))}});
}

}  // namespace

void add_shape_ops(OpTable& table) {
  table["reshape"] = reshape;
  table["flatten"] = flatten;
  table["transpose"] = transpose;
  table["concat"] = concat;
  table["slice"] = slice;
  table["pad"] = pad;
  table["mean"] = reduction("ReduceMean", 18);
  table["sum"] = reduction("ReduceSum", 13);
  table["reduce_max"] = reduction("ReduceMax", 18);
  table["reduce_min"] = reduction("ReduceMin", 18);
  table["reduce_prod"] = reduction("ReduceProd", 18);
  table["embedding"] = embedding;
  table["expand"] = expand;
  table["gather"] = gather;
  table["cumsum"] = running_sum;
  table["fill_constant"] = fill_constant;
  table["arange"] = arange;
  table["sinusoidal_positions"] = sinusoidal_positions;
}

}  // namespace lethe::onnx
