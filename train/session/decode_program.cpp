#include "train/session/decode_program.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "framework/core_ops.h"
#include "framework/error.h"
#include "framework/op_def.h"
#include "train/session/next_logits.h"

namespace lethe {
namespace {

constexpr std::string_view kAttention = "attention", kRope = "rope";

/// Ops that compute each row of their last axis, or each element, by itself.
constexpr std::array<std::string_view, 23> kRowByRow = {
    "add",   "sub",        "mul",     "div",   "max",       "relu",    "leaky_relu", "gelu",
    "silu",  "sigmoid",    "tanh",    "exp",   "embedding", "fc",      "rms_norm",   "cast",
    "scale", "layer_norm", "dropout", "slice", "concat",    "reshape", "parameter"};

/// Whether the values differ in one axis alone, not the last of several, which is the window's.
bool is_one_of_window(const Shape& window, const Shape& single, std::int64_t context) {
  if (window.size() != single.size()) return false;
  int axes = 0;
  for (std::size_t axis = 0; axis < window.size(); ++axis) {
    if (window[axis] == single[axis]) continue;
    if (window[axis] != context || single[axis] != 1) return false;
    ++axes;
  }
  return axes == 1;
}

/// Whether a parameter has a row for each position: [context, ...], or with axes of 1 before that.
bool is_by_position(const Var& window, const Var& single, std::int64_t context) {
  const auto first = std::ranges::find_if(window.shape, [](std::int64_t size) { return size > 1; });
  return first != window.shape.end() && first + 1 != window.shape.end() && *first == context &&
         is_one_of_window(window.shape, single.shape, context);
}

/// Which ops the prediction follows from.
std::vector<bool> needed_for(const Network& network) {
  const std::vector<Op>& ops = network.program.blocks[0].ops;
  std::vector<bool> wanted(network.program.vars.size()), needed(ops.size());
  wanted[network.prediction] = true;
  for (std::size_t i = ops.size(); i-- > 0;) {
    needed[i] = std::ranges::any_of(ops[i].out, [&](VarId out) { return wanted[out]; });
    if (!needed[i]) continue;
    for (const VarId in : ops[i].in)
      if (in != kNone) wanted[in] = true;
  }
  return needed;
}

/// Whether both have the same ops on the same vars, without loops and branches, whatever their shapes are.
bool are_alike(const Program& window, const Program& single) {
  const auto alike = [](const Op& a, const Op& b) { return a.type == b.type && a.in == b.in && a.out == b.out; };
  return window.blocks.size() == 1 && single.blocks.size() == 1 && window.vars.size() == single.vars.size() &&
         std::ranges::equal(window.blocks[0].ops, single.blocks[0].ops, alike);
}

/// Whether each position is computed by itself, but for what attention sees.
class RowByRow {
 public:
  RowByRow(const Network& window, const Network& single, std::int64_t context)
      : window_(window.program), single_(single.program), context_(context), by_symbol_(window_.vars.size()) {
    by_symbol_[fed_inputs(window).samples] = true;
    for (const ParamInfo& info : window.params)
      by_symbol_[info.var] = window_.vars[info.var].shape != single_.vars[info.var].shape;
  }

  bool holds(const std::vector<bool>& needed) {
    const std::vector<Op>&ops = window_.blocks[0].ops, &of_one = single_.blocks[0].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      // An attribute that follows from the number of symbols would be that of one symbol.
      const bool same_attrs = ops[i].type == kReshape || ops[i].attrs == of_one[i].attrs;
      if (needed[i] && !(holds(ops[i]) && same_attrs)) return false;
    }
    return true;
  }

 private:
  bool holds(const Op& op) {
    const auto of_symbols = [&](VarId in) { return in != kNone && by_symbol_[in]; };
    if (std::ranges::none_of(op.in, of_symbols)) return true;
    for (const VarId out : op.out) by_symbol_[out] = true;
    if (op.type == kAttention)
      return op.attrs.flag("causal", false) && std::ranges::count_if(op.in, [](VarId in) { return in != kNone; }) == 1;
    if (op.type == kRope && op.in.size() > 1 && op.in[1] != kNone) return false;
    if (op.type != kRope && std::ranges::find(kRowByRow, op.type) == kRowByRow.end()) return false;
    return is_one_of_window(window_.vars[op.out[0]].shape, single_.vars[op.out[0]].shape, context_) &&
           window_.vars[op.out[0]].shape.back() == single_.vars[op.out[0]].shape.back();
  }

  const Program &window_, &single_;
  std::int64_t context_;
  std::vector<bool> by_symbol_;
};

class Writer {
 public:
  Writer(const Network& window, const Network& single, std::int64_t context)
      : window_(window.program), single_(single), context_(context) {
    decode_.network.name = window.name;
    decode_.network.weight_names = window.weight_names;
    decode_.symbol = copied(fed_inputs(single).samples);
    for (const ParamInfo& info : single.params) param(info);
  }

  DecodeProgram write(const std::vector<bool>& needed) {
    const std::vector<Op>& ops = single_.program.blocks[0].ops;
    for (std::size_t i = 0; i < ops.size(); ++i)
      if (needed[i]) op(ops[i]);
    decode_.network.prediction = vars_.at(single_.prediction);
    decode_.network.outputs = {decode_.network.prediction};
    return std::move(decode_);
  }

 private:
  Program& program() { return decode_.network.program; }
  /// An input that is made when it is first asked for.
  VarId input(VarId& var, const char* name, const Shape& shape, DType dtype) {
    if (var == kNone) {
      var = add_var(program(), {.name = name, .shape = shape, .dtype = dtype, .kind = Kind::Input});
      decode_.network.inputs.push_back(var);
    }
    return var;
  }
  VarId at() { return input(decode_.at, "at", {}, DType::i64); }
  VarId position() { return input(decode_.position, "position", {1}, DType::i32); }
  VarId seen() { return input(decode_.seen, "seen", {1}, DType::i32); }
  VarId emit(const std::string& type, std::vector<VarId> in, Attrs attrs, const std::string& name) {
    return append_op(program(), 0, Role::Forward, type, std::move(in), std::move(attrs), name)[0];
  }
  /// The same var, if it was not met yet.
  VarId copied(VarId var) {
    const auto [found, is_new] = vars_.emplace(var, kNone);
    if (is_new) {
      found->second = add_var(program(), single_.program.vars[var]);
      if (single_.program.vars[var].kind == Kind::Input) decode_.network.inputs.push_back(found->second);
    }
    return found->second;
  }

  void param(const ParamInfo& info) {
    const Var &var = single_.program.vars[info.var], &whole = window_.vars[info.var];
    ParamInfo own = info;
    if (var.shape == whole.shape) {
      own.var = copied(info.var);
    } else {
      own.var = add_var(program(), whole);
      const Ints rows = {context_, elements(var.shape)};
      const VarId all = emit(kReshape, {own.var}, {{"shape", rows}}, var.name + ".all");
      const VarId row = emit(kArrayRead, {all, at()}, {}, var.name + ".row");
      vars_[info.var] = emit(kReshape, {row}, {{"shape", var.shape}}, var.name + ".here");
    }
    decode_.network.params.push_back(own);
  }

  void op(const Op& op) {
    Op own = op;
    for (VarId& in : own.in)
      if (in != kNone) in = copied(in);
    if (op.type == kAttention) own = over_cache(own, single_.program.vars[op.out[0]].name);
    if (op.type == kRope) own.in = {own.in[0], position()};
    for (VarId& out : own.out) out = copied(out);
    program().blocks[0].ops.push_back(std::move(own));
  }

  /// Attention of one packed input as that of its queries over a cache which its keys and values have been put into.
  Op over_cache(Op op, const std::string& name) {
    const VarId packed = op.in[0];
    const std::int64_t heads = op.attrs.integer("heads"), kv_heads = op.attrs.integer("kv_heads", heads);
    const std::int64_t size = program().vars[packed].shape[2] / (heads + 2 * kv_heads);
    const auto part = [&](std::int64_t first, std::int64_t count, const char* what) {
      const Attrs range = {{"axis", 2}, {"begin", first * size}, {"end", (first + count) * size}};
      return emit(kSlice, {packed}, range, name + what);
    };
    const VarId q = part(0, heads, ".q");
    const VarId k = cached(part(heads, kv_heads, ".k"), name + ".keys");
    const VarId v = cached(part(heads + kv_heads, kv_heads, ".v"), name + ".values");
    op.in = {q, k, v, seen()};
    return op;
  }

  /// The cache as [1, context, width], with `row` written at `at`.
  VarId cached(VarId row, const std::string& name) {
    const Var var = program().vars[row];
    const std::int64_t width = var.shape[2];
    const VarId cache =
        add_var(program(), {.name = name, .shape = {context_, width}, .dtype = var.dtype, .kind = Kind::State});
    const VarId entry = emit(kReshape, {row}, {{"shape", Ints{width}}}, var.name + ".row");
    const VarId written = emit(kArrayWrite, {cache, entry, at()}, {}, name);  // the same var
    return emit(kReshape, {written}, {{"shape", Ints{1, context_, width}}}, name + ".all");
  }

  const Program& window_;
  const Network& single_;
  std::int64_t context_;
  DecodeProgram decode_;
  std::map<VarId, VarId> vars_;  // of the single program to this one's
};

}  // namespace

std::optional<DecodeProgram> decode_program(const Network& window, const Network& single) {
  const std::int64_t context = context_of(window);
  if (context < 2 || !are_alike(window.program, single.program)) return std::nullopt;
  const std::vector<bool> needed = needed_for(window);
  if (!RowByRow(window, single, context).holds(needed)) return std::nullopt;
  for (const ParamInfo& info : single.params) {
    const Var &var = single.program.vars[info.var], &whole = window.program.vars[info.var];
    if (var.shape != whole.shape && !is_by_position(whole, var, context)) return std::nullopt;
  }
  return Writer(window, single, context).write(needed);
}

std::optional<DecodeProgram> decode_program(const Network& window, NetworkSetting setting) {
  setting.sets[kContextVar] = "1";
  try {
    return decode_program(window, build_network(setting, false));
  } catch (const Error&) {  // no such var, or no network of so short a window
    return std::nullopt;
  }
}

}  // namespace lethe
