#include "framework/language/op_def.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "framework/did_you_mean.h"
#include "framework/error.h"

namespace lethe {
namespace {

struct Table {
  std::map<std::string, OpDef> ops;
  std::unordered_map<std::string_view, const OpDef*> by_type;  // the same: planning asks thousands of times an op
};

/// The only global: filled before main, read-only afterwards.
Table& table() {
  static Table all;
  return all;
}

/// Outputs of a variadic slot share its name.
std::string output_name(const OpDef& def, std::size_t slot) {
  const std::string& name = def.outputs[std::min(slot, def.outputs.size() - 1)];
  return name.substr(0, name.find("..."));
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

Register::Register(OpDef def) {
  if (def.kernels.is_map) def.along = Along::Elements;
  const std::string type = def.type;
  const auto [added, is_new] = table().ops.emplace(type, std::move(def));
  if (!is_new) throw std::logic_error("op '" + type + "' is registered twice");
  table().by_type.emplace(added->first, &added->second);
}

const OpDef* find_op(std::string_view type) {
  const auto found = table().by_type.find(type);
  return found == table().by_type.end() ? nullptr : found->second;
}

const OpDef& op_def(std::string_view type) {
  const OpDef* found = find_op(type);
  if (!found) {
    std::vector<std::string> known;
    for (const OpDef* op : all_ops()) known.push_back(op->type);
    fail("no op named ", quote(type), did_you_mean(type, known));
  }
  return *found;
}

std::vector<const OpDef*> all_ops() {
  std::vector<const OpDef*> all;
  for (const auto& [type, def] : table().ops) all.push_back(&def);
  return all;
}

std::vector<Type> same_as_first(const InferArgs& args) {
  const std::size_t outputs = op_def(args.op.type).outputs.size();
  return std::vector<Type>(outputs, Type{args.in(0).shape, args.in(0).dtype});
}

std::vector<Type> same_as_second(const InferArgs& args) {
  const std::size_t outputs = op_def(args.op.type).outputs.size();
  return std::vector<Type>(outputs, Type{args.in(1).shape, args.in(1).dtype});
}

void check_input(const InferArgs& args, int slot, const Type& expected) {
  if (!args.has_in(slot)) return;
  const Var& given = args.in(slot);
  const std::string& name = op_def(args.op.type).inputs[static_cast<std::size_t>(slot)];
  check(given.shape == expected.shape && given.dtype == expected.dtype, args.op.type, ": ",
        name.substr(0, name.find('?')), " is ", text_of(given), ", expected ", name_of(expected.dtype),
        text_of(expected.shape));
}

std::int64_t mult_adds_of(const Program& program, const Op& op) {
  const MultAdds mult_adds = op_def(op.type).mult_adds;
  return mult_adds ? mult_adds({program, op}) : 0;
}

std::int64_t bytes_moved(const Program& program, const Op& op) {
  std::int64_t bytes = 0;
  for (auto v = op.in.begin(); v != op.in.end(); ++v)
    if (*v != kNone && std::find(op.in.begin(), v, *v) == v) bytes += bytes_of(program.vars[*v]);
  for (const VarId v : op.out) bytes += bytes_of(program.vars[v]);
  return bytes;
}

std::vector<VarId> append_op(Program& program, BlockId block, Role role, const std::string& type, std::vector<VarId> in,
                             Attrs attrs, const std::string& name) {
  const OpDef& def = op_def(type);
  Op op{.type = type, .in = std::move(in), .attrs = std::move(attrs), .role = role};
  const std::vector<Type> types = with_context(name, [&] { return def.infer({program, op}); });
  for (std::size_t slot = 0; slot < types.size(); ++slot) {
    if (def.updates) {
      op.out.push_back(op.in[slot]);
      continue;
    }
    const std::string var_name = ends_with(name, "@GRAD") ? name : message(name, '.', output_name(def, slot));
    op.out.push_back(
        add_var(program, {.name = var_name, .shape = types[slot].shape, .dtype = types[slot].dtype, .block = block}));
  }
  const std::vector<VarId> out = op.out;
  program.blocks[block].ops.push_back(std::move(op));
  return out;
}

void append_update(Program& program, BlockId block, const std::string& type, std::vector<VarId> in, Attrs attrs) {
  const OpDef& def = op_def(type);
  const std::vector<VarId> out(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(def.outputs.size()));
  Op op{.type = type, .in = std::move(in), .out = out, .attrs = std::move(attrs), .role = Role::Optimize};
  def.infer({program, op});  // for its checks: the outputs are there already
  program.blocks[block].ops.push_back(std::move(op));
}

bool copies_kept(const Program& program, const Op& op) {
  const std::optional<Kind> of = op_def(op.type).copies;
  return of && program.vars[op.in[0]].kind == *of;
}

const FusionRule* rule_of(const Op& op, Fusion fusion) {
  const std::vector<FusionRule>& rules = op_def(op.type).fusions;
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const FusionRule& r) { return r.fusion == fusion; });
  return found == rules.end() ? nullptr : &*found;
}

bool has_relu(const Attrs& attrs) {
  if (!attrs.has(kActivation)) return false;
  check(attrs.text(kActivation) == "relu", "unknown activation ", quote(attrs.text(kActivation)), "; known: relu");
  return true;
}

}  // namespace lethe
