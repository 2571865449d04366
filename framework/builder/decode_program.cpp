#include "framework/builder/decode_program.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "framework/builder/network_part.h"
#include "framework/language/core_ops.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

constexpr std::string_view kAttention = "attention", kRope = "rope";

/// Symbols of the window, and of the part of it that a program reads.
struct Lengths {
  std::int64_t context = 0, rows = 1, block = 1;

  /// Whether the values differ in one axis alone, not the last of several, which is the window's.
  bool differ(const Shape& window, const Shape& part) const {
    if (window.size() != part.size()) return false;
    int axes = 0;
    for (std::size_t axis = 0; axis < window.size(); ++axis) {
      if (window[axis] == part[axis]) continue;
      if (window[axis] != context || part[axis] != rows) return false;
      ++axes;
    }
    return axes == 1;
  }
  /// Of the axis in which the values differ, counted from the last, as maps align their inputs.
  static std::int64_t axis_from_last(const Shape& window, const Shape& part) {
    return std::ranges::mismatch(window, part).in1 - window.end();
  }
  /// Whether a parameter has a row for each position: [context, ...], or with axes of 1 before that.
  bool are_positions_of(const Var& window, const Var& part) const {
    const auto first = std::ranges::find_if(window.shape, [](std::int64_t size) { return size > 1; });
    return first != window.shape.end() && first + 1 != window.shape.end() && *first == context &&
           differ(window.shape, part.shape);
  }
};

/// The product of the sizes before the axis in which the shapes differ first.
std::int64_t entries_before_symbols(const Shape& window, const Shape& part) {
  return elements(Shape(window.begin(), std::ranges::mismatch(window, part).in1));
}

/// Which of these ops are attention.
std::vector<bool> attention_of(const Program& program, std::vector<bool> ops) {
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i] = ops[i] && program.blocks[0].ops[i].type == kAttention;
  return ops;
}

/// What those ops read.
std::vector<VarId> inputs_of(const Program& program, const std::vector<bool>& ops) {
  std::vector<VarId> inputs;
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (ops[i])
      std::ranges::copy_if(program.blocks[0].ops[i].in, std::back_inserter(inputs),
                           [](VarId in) { return in != kNone; });
  return inputs;
}

/// Whether both have the same ops on the same vars, without loops and branches, whatever their shapes are.
bool are_alike(const Program& window, const Program& part) {
  const auto alike = [](const Op& a, const Op& b) { return a.type == b.type && a.in == b.in && a.out == b.out; };
  return window.blocks.size() == 1 && part.blocks.size() == 1 && window.vars.size() == part.vars.size() &&
         std::ranges::equal(window.blocks[0].ops, part.blocks[0].ops, alike);
}

/// Whether each position is computed by itself, but for what attention sees.
class RowByRow {
 public:
  RowByRow(const Network& window, const Network& part, VarId symbols, const Lengths& lengths)
      : window_(window.program), part_(part.program), lengths_(lengths), by_symbol_(window_.vars.size()) {
    by_symbol_[symbols] = true;
    for (const ParamInfo& info : window.params)
      by_symbol_[info.var] = window_.vars[info.var].shape != part_.vars[info.var].shape;
  }

  bool holds(const std::vector<bool>& needed) {
    const std::vector<Op>&ops = window_.blocks[0].ops, &of_part = part_.blocks[0].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      // An attribute that follows from the number of symbols would be that of the part's.
      const bool same_attrs = ops[i].type == kReshape || ops[i].attrs == of_part[i].attrs;
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
    const Along along = op.type == kRope ? Along::Rows : op_def(op.type).along;
    if (along == Along::Mixed) return false;
    const Shape &whole = window_.vars[op.out[0]].shape, &own = part_.vars[op.out[0]].shape;
    if (!lengths_.differ(whole, own)) return false;
    if (along == Along::Rows)
      return whole.back() == own.back() && std::none_of(op.in.begin() + 1, op.in.end(), of_symbols);
    return op_def(op.type).view == ViewOf::Whole ? keeps_rows(op) : are_aligned(op);
  }
  /// Whether the symbols stand along one axis of all inputs that have any.
  bool are_aligned(const Op& op) const {
    std::optional<std::int64_t> axis;
    return std::ranges::all_of(op.in, [&](VarId in) {
      if (in == kNone || !by_symbol_[in]) return true;
      const std::int64_t own = Lengths::axis_from_last(window_.vars[in].shape, part_.vars[in].shape);
      if (!axis) axis = own;
      return *axis == own;
    });
  }
  /// Whether the elements of each symbol stay those of one.
  bool keeps_rows(const Op& reshape) const {
    const auto before = [&](VarId var) {
      return entries_before_symbols(window_.vars[var].shape, part_.vars[var].shape);
    };
    return before(reshape.in[0]) == before(reshape.out[0]);
  }

  const Program &window_, &part_;
  const Lengths& lengths_;
  std::vector<bool> by_symbol_;
};

class Writer {
 public:
  Writer(const Network& window, const Network& part, VarId symbols, const Lengths& lengths)
      : window_(window.program), part_(part.program), lengths_(lengths) {
    decode_.network.name = window.name;
    decode_.network.weight_names = window.weight_names;
    decode_.network.adapters = window.adapters;
    decode_.rows = lengths.rows;
    decode_.symbols = copied(symbols);
    for (const ParamInfo& info : part.params) param(info);
  }

  /// Those ops, and of others that are attention the keys and values alone.
  DecodeProgram write(const std::vector<bool>& needed, const std::vector<bool>& attention, VarId prediction) {
    const std::vector<Op>& ops = part_.blocks[0].ops;
    for (std::size_t i = 0; i < ops.size(); ++i)
      if (needed[i] || attention[i]) op(ops[i], needed[i]);
    if (prediction == kNone) return std::move(decode_);
    decode_.network.prediction = vars_.at(prediction);
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
  VarId position() { return input(decode_.position, "position", {1}, DType::i32); }
  VarId seen() { return input(decode_.seen, "seen", {1}, DType::i32); }
  bool reads_block() const { return lengths_.rows > 1; }
  /// `before`, and where in [blocks, block, ...] the symbols stand.
  std::vector<VarId> at_symbols(std::vector<VarId> before) {
    before.push_back(input(decode_.block, "block", {}, DType::i64));
    if (!reads_block()) before.push_back(input(decode_.row, "row", {}, DType::i64));
    return before;
  }
  VarId emit(const std::string& type, std::vector<VarId> in, Attrs attrs, const std::string& name) {
    return append_op(program(), 0, Role::Forward, type, std::move(in), std::move(attrs), name)[0];
  }
  /// The same var, if it was not met yet.
  VarId copied(VarId var) {
    const auto [found, is_new] = vars_.emplace(var, kNone);
    if (is_new) {
      found->second = add_var(program(), part_.vars[var]);
      if (part_.vars[var].kind == Kind::Input) decode_.network.inputs.push_back(found->second);
    }
    return found->second;
  }

  void param(const ParamInfo& info) {
    const Var &var = part_.vars[info.var], &whole = window_.vars[info.var];
    ParamInfo own = info;
    if (var.shape == whole.shape) {
      own.var = copied(info.var);
    } else {
      own.var = add_var(program(), whole);
      const Ints blocks = {lengths_.context / lengths_.block, lengths_.block, elements(var.shape) / lengths_.rows};
      const VarId all = emit(kReshape, {own.var}, {{"shape", blocks}}, var.name + ".all");
      const VarId rows = emit(kArrayRead, at_symbols({all}), {}, var.name + ".rows");
      vars_[info.var] = emit(kReshape, {rows}, {{"shape", var.shape}}, var.name + ".here");
    }
    decode_.network.params.push_back(own);
  }

  void op(const Op& op, bool is_read) {
    Op own = op;
    for (VarId& in : own.in)
      if (in != kNone) in = copied(in);
    if (op.type == kAttention) own = over_cache(own, part_.vars[op.out[0]].name, is_read);
    if (!is_read) return;
    if (op.type == kRope) own.in = {own.in[0], position()};
    for (VarId& out : own.out) out = copied(out);
    program().blocks[0].ops.push_back(std::move(own));
  }

  /// Attention of one packed input as that of its queries, if it is read, over a cache which its keys and values have
  /// been put into.
  Op over_cache(Op op, const std::string& name, bool is_read) {
    const VarId packed = op.in[0];
    const std::int64_t heads = op.attrs.integer("heads"), kv_heads = op.attrs.integer("kv_heads", heads);
    const std::int64_t size = program().vars[packed].shape[2] / (heads + 2 * kv_heads);
    const auto part = [&](std::int64_t first, std::int64_t count, const char* what) {
      const Attrs range = {{"axis", 2}, {"begin", first * size}, {"end", (first + count) * size}};
      return emit(kSlice, {packed}, range, name + what);
    };
    const VarId keys = cached(part(heads, kv_heads, ".k"), name + ".keys");
    const VarId values = cached(part(heads + kv_heads, kv_heads, ".v"), name + ".values");
    if (is_read) op.in = {part(0, heads, ".q"), window_of(keys), window_of(values), seen()};
    return op;
  }

  /// The cache, with `rows` in it.
  VarId cached(VarId rows, const std::string& name) {
    const Var var = program().vars[rows];
    const std::int64_t width = var.shape[2], block = lengths_.block;
    const Shape shape = {lengths_.context / block, block, width};
    const VarId cache = add_var(program(), {.name = name, .shape = shape, .dtype = var.dtype, .kind = Kind::State});
    const Ints entry = reads_block() ? Ints{block, width} : Ints{width};
    const VarId value = emit(kReshape, {rows}, {{"shape", entry}}, var.name + ".entry");
    return emit(kArrayWrite, at_symbols({cache, value}), {}, name);  // the same var
  }

  VarId window_of(VarId cache) {
    const Var var = program().vars[cache];
    return emit(kReshape, {cache}, {{"shape", Ints{1, lengths_.context, var.shape[2]}}}, var.name + ".all");
  }

  const Program &window_, &part_;
  const Lengths& lengths_;
  DecodeProgram decode_;
  std::map<VarId, VarId> vars_;  // of the part's program to this one's
};

}  // namespace

std::optional<DecodeProgram> decode_program(const Network& window, const Network& part, VarId symbols,
                                            std::int64_t block) {
  const auto length_in = [&](const Network& network) { return network.program.vars[symbols].shape.back(); };
  const Lengths lengths{.context = length_in(window), .rows = length_in(part), .block = block};
  if (lengths.context <= lengths.rows || !are_alike(window.program, part.program)) return std::nullopt;
  std::vector<bool> needed = needed_for(window.program, {window.prediction});
  if (!RowByRow(window, part, symbols, lengths).holds(needed)) return std::nullopt;
  for (const ParamInfo& info : part.params) {
    const Var &var = part.program.vars[info.var], &whole = window.program.vars[info.var];
    if (var.shape != whole.shape && !lengths.are_positions_of(whole, var)) return std::nullopt;
  }
  const std::vector<bool> attention = attention_of(part.program, needed);
  if (lengths.rows == 1) return Writer(window, part, symbols, lengths).write(needed, attention, part.prediction);
  if (std::ranges::find(attention, true) == attention.end()) return std::nullopt;
  needed = needed_for(part.program, inputs_of(part.program, attention));
  return Writer(window, part, symbols, lengths).write(needed, attention, kNone);
}

}  // namespace lethe
