#include "framework/builder/packed_texts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "framework/error.h"
#include "framework/language/core_ops.h"
#include "framework/language/op_def.h"
#include "framework/language/verify.h"

namespace lethe {
namespace {

constexpr std::string_view kPackedAttention = "attention";
/// Across positions each draws, or turns by the angle that they are apart, and nothing more.
constexpr std::string_view kRowWise[] = {"dropout", "rope"};

class Packer {
 public:
  Packer(Network& network, VarId symbols) : network_(network), symbols_(shape(symbols)), rows_{symbols} {
    if (network.target != kNone) of_labels_ = {network.target};
    const Var& var = network.program.vars[symbols];
    positions_ =
        add_var(network.program,
                {.name = var.name + ".positions", .shape = symbols_, .dtype = DType::i32, .kind = Kind::Input});
    network.positions = positions_;
    network.inputs.push_back(positions_);
  }

  void pack() {
    std::vector<Op>& ops = network_.program.blocks[0].ops;
    for (Op& op : std::exchange(ops, {})) {
      const bool of_labels = reads_any(op, of_labels_);
      if (!of_labels && reads_any(op, rows_)) {
        take(op);
        rows_.insert(op.out.begin(), op.out.end());
      }
      if (of_labels) of_labels_.insert(op.out.begin(), op.out.end());  // the loss: each label by itself
      ops.push_back(std::move(op));
    }
  }

 private:
  const Shape& shape(VarId var) const { return network_.program.vars[var].shape; }
  static bool reads_any(const Op& op, const std::set<VarId>& vars) {
    return std::ranges::any_of(op.in, [&](VarId in) { return vars.contains(in); });
  }
  [[noreturn]] void refuse(const Op& op, const char* what) const {
    fail(network_.name, ": ", op.type, " ", quote(network_.program.vars[op.out[0]].name), " ", what,
         ", so texts that stand in one sample would see each other");
  }

  void take(Op& op) {
    if (op.type == kPackedAttention) return take_attention(op);
    const Along along = std::ranges::count(kRowWise, op.type) > 0 ? Along::Rows : op_def(op.type).along;
    if (along == Along::Mixed) refuse(op, "computes across positions");
    const Shape& of = shape(op.out[0]);
    const std::size_t axes = axes_of_positions(of);  // these, and rows go through the last one, which is none of them
    if (axes == 0 || (along == Along::Rows && of.size() == axes) || sums_over(op, axes) ||
        !std::ranges::all_of(op.out, [&](VarId out) { return axes_of_positions(shape(out)) > 0; }))
      refuse(op, "does not keep positions apart");
    for (VarId& in : op.in)
      if (along == Along::Elements && in != kNone && !rows_.contains(in)) in = of_texts(op, in);
  }
  void take_attention(Op& op) {
    const bool of_own = axes_of_positions(shape(op.in[0])) == 2 &&
                        std::all_of(op.in.begin(), op.in.begin() + std::min<std::ptrdiff_t>(3, std::ssize(op.in)),
                                    [&](VarId in) { return in == kNone || rows_.contains(in); });
    if (!of_own || !op.attrs.flag("causal", false)) refuse(op, "sees later symbols");
    check(op.in.size() < 7, network_.name, ": the mask of attention ", quote(network_.program.vars[op.out[0]].name),
          " is for one text a sample, not for several");
    op.in.resize(6, kNone);
    op.in[5] = positions_;
  }

  /// Over how many first axes the symbols stand: [N, T, ...], or [N * T, ...] as products have them; 0 if neither.
  std::size_t axes_of_positions(const Shape& of) const {
    if (of.size() >= 2 && std::equal(symbols_.begin(), symbols_.end(), of.begin())) return 2;
    return !of.empty() && of[0] == elements(symbols_) ? 1 : 0;
  }
  /// A sum or mean over one of these axes, in whose place another of the same size may come.
  static bool sums_over(const Op& op, std::size_t axes) {
    const auto is_one = [&](std::int64_t axis) { return axis < static_cast<std::int64_t>(axes); };
    return op.attrs.has("axes") && std::ranges::any_of(op.attrs.ints("axes"), is_one);
  }

  /// The value as symbols get it: where it has a row for each position, [N, T, ...] of rows by positions in texts.
  VarId of_texts(const Op& op, VarId value) {
    const Shape &own = shape(value), &of = shape(op.out[0]);
    const bool apart = axes_of_positions(of) == 2;
    const std::ptrdiff_t row = std::ssize(own) - std::ssize(of) + (apart ? 1 : 0);  // which axis is T
    if (row < 0 || own[static_cast<std::size_t>(row)] == 1) return value;
    if (!apart || std::any_of(own.begin(), own.begin() + row, [](std::int64_t size) { return size != 1; }))
      refuse(op, "reads a copy for each sample of what has a row for each position");
    const auto [found, is_new] = gathered_.try_emplace(value, kNone);
    if (is_new) found->second = gathered(value, {own.begin() + row, own.end()});
    return found->second;
  }
  VarId gathered(VarId value, const Shape& rows) {
    const Var var = network_.program.vars[value];
    const DType wide = wide_of(var.dtype);
    VarId table = emit(kReshape, value, {{"shape", Ints{rows[0], elements(rows) / rows[0]}}}, var.name + ".rows");
    if (wide != var.dtype) table = emit(kCast, table, {{"dtype", std::string(name_of(wide))}}, var.name + ".table");
    const Attrs as{{"dtype", std::string(name_of(var.dtype))}};
    const VarId looked_up =
        append_op(network_.program, 0, Role::Forward, "embedding", {positions_, table}, as, var.name + ".of_texts")[0];
    Shape whole = symbols_;
    whole.insert(whole.end(), rows.begin() + 1, rows.end());
    return whole == shape(looked_up) ? looked_up
                                     : emit(kReshape, looked_up, {{"shape", whole}}, var.name + ".of_texts.all");
  }
  VarId emit(const char* type, VarId in, Attrs attrs, const std::string& name) {
    return append_op(network_.program, 0, Role::Forward, type, {in}, std::move(attrs), name)[0];
  }

  Network& network_;
  const Shape symbols_;  // [N, T]
  VarId positions_ = kNone;
  std::set<VarId> rows_, of_labels_;  // values of symbols [N, T, ...], and of labels
  std::map<VarId, VarId> gathered_ = {};
};

}  // namespace

void pack_texts(Network& network, VarId symbols) {
  const Var& var = network.program.vars[symbols];
  check(var.kind == Kind::Input && var.dtype == DType::i32 && var.shape.size() == 2, network.name, ": ",
        quote(var.name), " is ", text_of(var), ", texts are packed into an input i32[N,T]");
  check(network.program.blocks.size() == 1, network.name,
        ": has loops or branches, in which texts of one sample would see each other");
  Packer(network, symbols).pack();
  verify(network.program);
}

}  // namespace lethe
