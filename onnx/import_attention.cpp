// Attention: as one layer where ours says the same, else in products.
#include <algorithm>
#include <cmath>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/import_heads.h"
#include "onnx/import_numbers.h"
#include "onnx/import_pair.h"
#include "onnx/import_tables.h"
#include "onnx/patterns.h"

namespace lethe::onnx {
namespace {

std::int64_t size(const ImportState& state, const View& view, std::size_t axis) {
  return size_of(view, axis, state.batch());
}

/// A scale before the product that nothing else needs is a part of the score's own.
View unscaled(const ImportState& state, View view, double& scale) {
  if (const auto by = state.scale_of(view.layer)) {
    scale *= by->second;
    view.layer = by->first;
  }
  return view;
}

/// [N, heads, T, size] as rows [T, heads * size]; none where a head is no axis of its own in memory.
std::string rows_of_heads(ImportState& state, const View& heads) {
  const View seen = simplified(heads);
  Ints order;
  for (const std::size_t axis : {2, 1, 3}) order.insert(order.end(), seen.axes[axis].begin(), seen.axes[axis].end());
  return state.restated(state.in_order(seen, order),
                        {{size(state, heads, 2), size(state, heads, 1) * size(state, heads, 3)}});
}

/// As products of stacks, with softmax between them.
void give_products(ImportState& state, const ReadNode& node, Heads heads) {
  const std::int64_t groups = size(state, heads.q, 1) / size(state, heads.k, 1);
  const auto each_group = [&](const View& view) {  // a head of keys or values for each head of queries
    if (groups == 1) return view;
    const std::string copied =
        state.add(node.outputs[0] + ".groups",
                  {{"op", "expand"},
                   {"shape", {size(state, view, 1), groups, size(state, view, 2) * size(state, view, 3)}},
                   {"layout", "plain"}},
                  {state.restated(state.in_order(simplified(view), order_of(simplified(view))),
                                  {{size(state, view, 1), 1, size(state, view, 2) * size(state, view, 3)}})},
                  {{size(state, view, 1), groups, size(state, view, 2) * size(state, view, 3)}});
    return state.of_plain(copied, {size(state, view, 1) * groups, size(state, view, 2), size(state, view, 3)});
  };
  ReadNode step = node;
  const auto give = [&](const char* type, std::vector<std::string> in, const char* name) {
    step.type = type, step.inputs = std::move(in), step.outputs = {node.outputs[0] + name};
    import_by_type(state, step);
    return step.outputs[0];
  };
  const std::string name = node.outputs[0];
  state.give_named(name + ".q", heads.q);
  state.give_named(name + ".k", transposed(each_group(heads.k), {0, 1, 3, 2}));
  state.give_named(name + ".v", each_group(heads.v));
  std::string scores = give("MatMul", {name + ".q", name + ".k"}, ".scores");
  const auto scaled = [&](const std::string& of, double by, const char* ending) {
    step.outputs = {name + ending};
    state.give_like(step, {{"op", "scale"}, {"a", by}}, state.made(of));
    return step.outputs[0];
  };
  if (heads.scale != 1) scores = scaled(scores, heads.scale, ".scaled");
  if (heads.cap != 0) {
    scores = give("Tanh", {scaled(scores, 1 / heads.cap, ".part")}, ".tanh");
    scores = scaled(scores, heads.cap, ".capped");
  }
  if (!heads.mask.empty()) scores = give("Add", {scores, heads.mask}, ".masked");
  step.outputs = {name + ".shares"};
  const View rows = state.along(state.made(scores), 3);
  Json entry = {{"op", "softmax"}};
  if (heads.causal) entry["causal"] = true;
  state.give_like(step, entry, rows);
  step.attributes.clear();
  give("MatMul", {name + ".shares", name + ".v"}, "");
}

void give_heads(ImportState& state, const ReadNode& node, Heads heads) {
  hide_by_numbers(state, node, heads);
  for (const View* const view : {&heads.q, &heads.k, &heads.v})
    check_as(Exit::Data, view->axes.size() == 4 && is_batch(*view, 0), node.text(), ": of ", state.text(*view));
  const std::int64_t of_q = size(state, heads.q, 1), of_k = size(state, heads.k, 1), width = size(state, heads.q, 3),
                     rows = size(state, heads.q, 2), keys = size(state, heads.k, 2);
  check_as(Exit::Data,
           of_q % of_k == 0 && size(state, heads.v, 1) == of_k && size(state, heads.v, 2) == keys &&
               size(state, heads.k, 3) == width,
           node.text(), ": its queries, keys and values do not belong together");
  if (heads.mask_is_constant && rows == keys && is_causal_mask(*state.constants.find(heads.mask)))
    heads.causal = true, heads.mask.clear();
  if (heads.causal && rows != keys && rows + heads.before != keys) hide_later_keys(state, node, heads, rows, keys);
  const bool fits = size(state, heads.v, 3) == width && !(heads.causal && rows > keys);
  if (!fits) {
    if (heads.causal && rows != keys) hide_later_keys(state, node, heads, rows, keys);
    const ReadTensor* const mask = heads.mask_is_constant ? state.constants.find(heads.mask) : nullptr;
    check_as(
        Exit::Data,
        !mask || !hides_a_row(Array::of(*mask).as(Type::f32).floats(), mask->shape.empty() ? 1 : mask->shape.back()),
        node.text(), ": a row of its mask hides all keys, which is not read of values of another width");
    return give_products(state, node, heads);
  }
  heads.q = unscaled(state, heads.q, heads.scale), heads.k = unscaled(state, heads.k, heads.scale);
  Json entry = {{"op", "attention"}, {"name", state.name_of(node)}, {"heads", of_q}};
  if (of_k != of_q) entry["kv_heads"] = of_k;
  if (heads.causal) entry["causal"] = true;
  const double usual = 1 / std::sqrt(static_cast<double>(width));
  if (std::fabs(heads.scale / usual - 1) > 1e-6) entry["scale"] = heads.scale;
  const std::string q = rows_of_heads(state, heads.q), k = rows_of_heads(state, heads.k),
                    v = rows_of_heads(state, heads.v);
  std::vector<std::string> in = {q, k, v};
  if (heads.cap != 0) entry["softcap"] = heads.cap;
  if (heads.dropout != 0) entry["dropout"] = heads.dropout;
  if (!heads.mask.empty()) entry["mask"] = true, in.push_back(mask_layer(state, node, heads));
  const std::string made = state.add("", entry, in, {{rows, of_q * width}});
  state.give(node, {made, {rows, of_q, width}, {{kBatchAxis}, {1}, {0}, {2}}});
}

/// [N, T, heads * size] as [N, heads, T, size].
View apart(ImportState& state, const ReadNode& node, const View& x, std::int64_t heads) {
  if (x.axes.size() == 4) return x;
  const Shape of = state.shape(x);
  check_as(Exit::Data, of.size() == 3 && heads >= 1 && of[2] % heads == 0, node.text(), ": of ", state.text(x), " for ",
           heads, " heads");
  const auto made = reshaped(x, {of[0], of[1], heads, of[2] / heads}, state.batch());
  check_as(Exit::Data, made.has_value(), node.text(), ": of ", state.text(x), " is not read");
  return transposed(*made, {0, 2, 1, 3});
}

void import_attention(ImportState& state, const ReadNode& node) {
  const auto has = [&](std::size_t input) { return input < node.inputs.size() && !node.inputs[input].empty(); };
  check_as(Exit::Data, !has(6), node.text(), ": with lengths is not read");
  check_as(Exit::Data, node.outputs.size() < 4 || node.outputs[3].empty() || !state.is_read(node.outputs[3]),
           node.text(), ": its output 3 is read, which is not");
  const View x = state.value(node, 0);
  Heads heads{apart(state, node, x, node.integer("q_num_heads", 0)),
              apart(state, node, state.value(node, 1), node.integer("kv_num_heads", 0)),
              apart(state, node, state.value(node, 2), node.integer("kv_num_heads", 0))};
  // Keys and values of before come first.
  for (const auto& [past, present, of] : {std::tuple{std::size_t{4}, std::size_t{1}, &heads.k}, {5, 2, &heads.v}}) {
    const std::string name = present < node.outputs.size() && !node.outputs[present].empty()
                                 ? node.outputs[present]
                                 : message(node.outputs[0], ".present.", present);
    if (has(past)) {
      ReadNode joined{"Concat", node.name, {node.inputs[past], name + ".now"}, {name}, {}};
      joined.attributes["axis"] = std::int64_t{2};
      state.give_named(name + ".now", *of);
      import_by_type(state, joined);
      heads.before = size(state, state.made(name), 2) - size(state, *of, 2);
      *of = state.made(name);
    } else {
      state.give_named(name, *of);
    }
  }
  heads.scale = node.has("scale") ? as_written(node.number("scale", 1))
                                  : 1 / std::sqrt(static_cast<double>(size(state, heads.q, 3)));
  heads.cap = as_written(node.number("softcap", 0));
  heads.causal = node.integer("is_causal", 0) != 0;
  if (node.inputs.size() > 3 && !node.inputs[3].empty()) {
    heads.mask = node.inputs[3], heads.mask_is_constant = state.constant(node, 3) != nullptr;
    if (const ReadTensor* const mask = state.constant(node, 3); mask && mask->type == Type::boolean) {
      ReadNode step = node;
      step.outputs = {node.outputs[0] + ".hidden"};
      state.constants.add(step,
                          each(Array::of(*mask), [](double seen) { return seen != 0 ? 0 : -INFINITY; }).as(Type::f32));
      heads.mask = step.outputs[0];
    }
  }
  give_heads(state, node, heads);
  if (x.axes.size() == 4) return;
  const View joined = transposed(state.made(node.outputs[0]), {0, 2, 1, 3});
  const Shape of = state.shape(joined);
  state.give(node, *reshaped(joined, {of[0], of[1], of[2] * of[3]}, state.batch()));
}

/// What attention.cpp of the patterns found: MatMul, softmax and MatMul with what stands between them. Keys come
/// transposed, as the product takes them.
void import_found_attention(ImportState& state, const ReadNode& node) {
  const auto four = [&](View view) {  // heads may stand beside the batch in one axis
    if (view.axes.size() == 3 && view.axes[0].size() > 1 && view.axes[0][0] == kBatchAxis) {
      view.axes.insert(view.axes.begin(), Ints{kBatchAxis});
      view.axes[1].erase(view.axes[1].begin());
    }
    check_as(Exit::Data, view.axes.size() >= 2 && view.axes.size() <= 4, node.text(), ": of ", state.text(view));
    while (view.axes.size() < 4) view = with_one(view, 1);
    return view;
  };
  const View q = state.value(node, 0);
  Heads heads{four(q), transposed(four(state.value(node, 1)), {0, 1, 3, 2}), four(state.value(node, 2))};
  heads.scale = static_cast<double>(node.number("scale", 1));
  heads.rank = q.axes.size();
  check_as(Exit::Data, axis_of(node, node.integer("axis", -1), q.axes.size()) + 1 == q.axes.size(), node.text(),
           ": its softmax is along another axis than the keys");
  heads.dropout = as_written(node.number("dropout", 0));
  if (node.inputs.size() > 3) heads.mask = node.inputs[3], heads.mask_is_constant = state.constant(node, 3) != nullptr;
  give_heads(state, node, heads);
  Shape shape = state.shape(q);
  const View& made = state.made(node.outputs[0]);
  shape.back() = state.shape(made).back();
  const auto back = reshaped(made, shape, state.batch());
  check_as(Exit::Data, back.has_value(), node.text(), ": of ", state.text(q), " is not read");
  state.give(node, *back);
}

}  // namespace

void add_attention_imports(ImportTable& table) {
  table["Attention"] = import_attention;
  table[kFoundAttention] = import_found_attention;
}

}  // namespace lethe::onnx
