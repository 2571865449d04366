// Attention of heads, and the angles of their positions. Before opset 23 both are said by products: queries
// [B, G, H / G, T, D] of G groups that share keys [B, G, 1, D, S] and values [B, G, 1, S, D].
#include <cmath>
#include <limits>

#include "framework/error.h"
#include "kernels/positions.h"
#include "onnx/op_table.h"

namespace lethe::onnx {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct AttentionSizes {
  std::int64_t rows, keys, heads, groups, size, window;
  bool causal;
  double softcap;
  /// Whether the last row's position is the last key's, and so on, and this row sees this key.
  bool sees(std::int64_t row, std::int64_t key) const {
    const std::int64_t position = row + keys - rows;
    return (!causal || key <= position) && (window == 0 || std::abs(position - key) < window);
  }
};

AttentionSizes sizes_of(const Emitter& e, const Op& op) {
  const bool is_packed = op.in.size() < 2 || op.in[1] == kNone;
  const std::int64_t heads = op.attrs.integer("heads"), groups = op.attrs.integer("kv_heads", heads);
  const Shape& q = e.shape(op.in[0]);
  return {.rows = q[1],
          .keys = is_packed ? q[1] : e.shape(op.in[1])[1],
          .heads = heads,
          .groups = groups,
          .size = q[2] / (is_packed ? heads + 2 * groups : heads),
          .window = op.attrs.integer("window", 0),
          .causal = op.attrs.flag("causal", false),
          .softcap = op.attrs.number("softcap", 0)};
}

/// Some of the last axis.
std::string columns(Emitter& e, const std::string& x, std::int64_t begin, std::int64_t end) {
  return e.node("Slice", {x, e.integers({begin}), e.integers({end}), e.integers({-1})});
}

struct QueriesKeysValues {
  std::string q, k, v;  // [B, T, width]
};
QueriesKeysValues operands_of(Emitter& e, const Op& op, const AttentionSizes& s) {
  const std::string q = e.value(op.in[0]);
  if (op.in.size() > 1 && op.in[1] != kNone) return {q, e.value(op.in[1]), e.value(op.in[2])};
  const std::int64_t of_q = s.heads * s.size, of_k = of_q + s.groups * s.size;
  return {columns(e, q, 0, of_q), columns(e, q, of_q, of_k), columns(e, q, of_k, of_k + s.groups * s.size)};
}

bool has(const Op& op, std::size_t slot) { return op.in.size() > slot && op.in[slot] != kNone; }

constexpr std::size_t kMask = 6;  // an input of the op

/// Of scores [B, H, T, S], in the dtype of queries.
std::string mask_of(Emitter& e, const Op& op) {
  const std::string mask = e.value(op.in[kMask]);
  const Type to = e.type_of(op.in[0]);
  return e.type_of(op.in[kMask]) == to ? mask : e.node("Cast", {mask}, {{"to", static_cast<std::int64_t>(to)}});
}

/// Scores [B, G, H / G, T, S] under their cap and with their mask, where those of keys that no row sees are -inf.
std::string masked(Emitter& e, const Op& op, const AttentionSizes& s, std::string scores) {
  if (s.softcap > 0)
    scores = e.node("Mul", {e.node("Tanh", {e.node("Div", {scores, e.number(s.softcap)})}), e.number(s.softcap)});
  if (has(op, kMask)) {
    const Shape& shape = e.shape(op.in[kMask]);
    const Ints apart = {-1, shape[1] == 1 ? 1 : s.groups, shape[1] == 1 ? 1 : s.heads / s.groups, shape[2], shape[3]};
    scores = e.node("Add", {scores, e.node("Reshape", {mask_of(e, op), e.integers(apart)})});
  }
  if (s.causal || s.window > 0) {
    std::vector<double> mask;
    for (std::int64_t row = 0; row < s.rows; ++row)
      for (std::int64_t key = 0; key < s.keys; ++key) mask.push_back(s.sees(row, key) ? 0 : kNever);
    scores = e.node("Add", {scores, e.numbers({s.rows, s.keys}, mask)});
  }
  if (!has(op, 3)) return scores;
  check(!s.causal && s.window == 0, "ONNX: attention with lengths and an order of positions");
  Ints keys;
  for (std::int64_t key = 0; key < s.keys; ++key) keys.push_back(key);
  const std::string lengths = e.node("Cast", {e.value(op.in[3])}, {{"to", static_cast<std::int64_t>(Type::i64)}});
  const std::string each = e.node("Reshape", {lengths, e.integers({-1, 1, 1, 1, 1})});
  return e.node("Where", {e.node("Less", {e.integers(keys), each}), scores, e.number(kNever)});
}

void attention(Emitter& e, const Op& op) {
  const AttentionSizes s = sizes_of(e, op);
  check(!has(op, 5), "ONNX: attention over several texts of a sample");
  const double scale = op.attrs.number("scale", 1 / std::sqrt(static_cast<double>(s.size)));
  const auto [q, k, v] = operands_of(e, op, s);
  // There a cap comes after the mask, and after what hides later keys.
  if (e.opset() >= 23 && !has(op, 3) && s.window == 0 && s.rows == s.keys && s.softcap == 0)
    return e.give(op.out[0], "Attention", has(op, kMask) ? Names{q, k, v, mask_of(e, op)} : Names{q, k, v},
                  {{"q_num_heads", s.heads},
                   {"kv_num_heads", s.groups},
                   {"is_causal", std::int64_t{s.causal}},
                   {"scale", static_cast<float>(scale)}});
  const std::int64_t each = s.heads / s.groups;
  const auto heads = [&](const std::string& x, std::int64_t rows, std::int64_t of_group, const Ints& perm) {
    const Ints sizes = {-1, rows, s.groups, of_group, s.size};
    return e.node("Transpose", {e.node("Reshape", {x, e.integers(sizes)})}, {{"perm", perm}});
  };
  const std::string queries = heads(e.node("Mul", {q, e.number(scale)}), s.rows, each, {0, 2, 3, 1, 4});
  const std::string scores = e.node("MatMul", {queries, heads(k, s.keys, 1, {0, 2, 3, 4, 1})});
  const std::string shares = e.node("Softmax", {masked(e, op, s, scores)}, {{"axis", std::int64_t{-1}}});
  const std::string sums = e.node("MatMul", {shares, heads(v, s.keys, 1, {0, 2, 3, 1, 4})});
  const std::string rows = e.node("Transpose", {sums}, {{"perm", Ints{0, 3, 1, 2, 4}}});
  e.give(op.out[0], "Reshape", {rows, e.integers({-1, s.rows, s.heads * s.size})});
}

/// Pair k of a head, its numbers k and k + D / 2, turns by the angle of its position.
void rope(Emitter& e, const Op& op) {
  check(!has(op, 1), "ONNX: positions that begin elsewhere than at 0");
  const Shape& x = e.shape(op.in[0]);
  const std::int64_t size = op.attrs.integer("head_size"), half = size / 2, heads = x[2] / size,
                     turned = op.attrs.integer("rotated", heads) * size;
  const PositionAngles angles(op.attrs.number("base"), size);
  SlowedPairs slowed;
  slowed.factor = op.attrs.number("factor", slowed.factor);
  slowed.low = op.attrs.number("low_freq_factor", slowed.low);
  slowed.high = op.attrs.number("high_freq_factor", slowed.high);
  slowed.length = op.attrs.number("original_length", slowed.length);
  std::vector<double> cosines, sines;
  for (std::int64_t p = 0; p < x[1]; ++p)
    for (std::int64_t k = 0; k < half; ++k) {
      const double angle = angles(p, k) * slowed(angles(1, k));
      cosines.push_back(std::cos(angle)), sines.push_back(std::sin(angle));
    }
  const Ints of_table = {x[1], 1, half};
  const std::string cos = e.numbers(of_table, cosines), sin = e.numbers(of_table, sines), all = e.value(op.in[0]);
  const std::string of_heads = e.node(
      "Reshape", {turned == x[2] ? all : columns(e, all, 0, turned), e.integers({-1, x[1], turned / size, size})});
  const std::string a = columns(e, of_heads, 0, half), b = columns(e, of_heads, half, size);
  const auto product = [&](const std::string& f, const std::string& g) { return e.node("Mul", {f, g}); };
  const std::string first = e.node("Sub", {product(a, cos), product(b, sin)}),
                    second = e.node("Add", {product(b, cos), product(a, sin)});
  const std::string both = e.node("Concat", {first, second}, {{"axis", std::int64_t{-1}}});
  const Names rows = {both, e.integers({-1, x[1], turned})};
  if (turned == x[2]) return e.give(op.out[0], "Reshape", rows);
  e.give(op.out[0], "Concat", {e.node("Reshape", rows), columns(e, all, turned, x[2])}, {{"axis", std::int64_t{-1}}});
}

}  // namespace

void add_attention_ops(OpTable& table) {
  table["attention"] = attention;
  table["rope"] = rope;
}

}  // namespace lethe::onnx
