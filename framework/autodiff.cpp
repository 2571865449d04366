#include "framework/autodiff.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/op_def.h"

namespace lethe {
namespace {

/// Marks every float var whose value depends on one in `from`, through forward ops.
std::vector<bool> depends_on(const Program& program, const Block& block, std::vector<bool> from) {
  for (const Op& op : block.ops) {
    if (op.role != Role::Forward) continue;
    const bool reached = std::any_of(op.in.begin(), op.in.end(), [&](VarId v) { return v != kNone && from[v]; });
    if (reached)
      for (const VarId v : op.out)
        if (is_float(program.vars[v].dtype)) from[v] = true;
  }
  return from;
}

/// The gradients given to a var so far, and their sum once it is asked for.
class Sums {
 public:
  Sums(Program& program, std::size_t vars) : program_(program), given_(vars) {}

  void give(VarId var, VarId gradient) { given_[var].push_back(gradient); }

  /// Operands stand in the order in which the walk met the readers: last reader first.
  VarId sum(VarId var) {
    if (given_[var].empty()) return kNone;
    if (given_[var].size() > 1) {
      const std::string name = program_.vars[var].name + "@GRAD";
      given_[var] = {append_op(program_, 0, Role::Backward, "sum_n", given_[var], {}, name).front()};
    }
    return given_[var].front();
  }

 private:
  Program& program_;
  std::vector<std::vector<VarId>> given_;
};

}  // namespace

std::vector<VarId> GradBuilder::call_all(const std::string& type, std::vector<VarId> in, Attrs attrs,
                                         const std::vector<VarId>& like) {
  const OpDef& def = op_def(type);
  Op op{.type = type, .in = std::move(in), .attrs = std::move(attrs), .role = Role::Backward};
  const std::vector<Type> types = with_context(message("gradient of ", forward_.type), [&] {
    return def.infer({program_, op});
  });
  check(types.size() == like.size(), type, ": ", types.size(), " outputs, ", like.size(), " gradients named");
  for (std::size_t slot = 0; slot < types.size(); ++slot)
    op.out.push_back(add_var(program_, {.name = program_.vars[like[slot]].name + "@GRAD",
                                        .shape = types[slot].shape,
                                        .dtype = types[slot].dtype,
                                        .block = block_}));
  const std::vector<VarId> out = op.out;
  program_.blocks[block_].ops.push_back(std::move(op));
  return out;
}

VarId GradBuilder::call(const std::string& type, std::vector<VarId> in, Attrs attrs, VarId like) {
  return call_all(type, std::move(in), std::move(attrs), {like}).front();
}

void GradBuilder::set(int slot, const std::string& type, std::vector<VarId> in, Attrs attrs) {
  if (wants(slot)) dx_[slot] = call(type, std::move(in), std::move(attrs), x(slot));
}

std::vector<ParamGrad> append_backward(Program& program, VarId loss, const std::vector<VarId>& also) {
  check(program.vars[loss].shape.empty(), "the loss '", program.vars[loss].name, "' has shape ",
        text_of(program.vars[loss].shape), ", expected a scalar");
  const std::size_t vars = program.vars.size();
  std::vector<bool> roots(vars, false);
  for (std::size_t v = 0; v < vars; ++v) roots[v] = program.vars[v].kind == Kind::Param;
  for (const VarId v : also) roots[v] = true;
  const std::vector<bool> needs = depends_on(program, program.blocks[0], roots);

  Sums sums(program, vars);
  if (needs[loss]) {
    const Attrs one{{"shape", Ints{}}, {"dtype", std::string(name_of(program.vars[loss].dtype))}, {"value", 1.0}};
    sums.give(
        loss,
        append_op(program, 0, Role::Backward, "fill_constant", {}, one, program.vars[loss].name + "@GRAD").front());
  }
  const std::vector<Op> forward = program.blocks[0].ops;  // a copy: rules append to the block
  for (auto op = forward.rbegin(); op != forward.rend(); ++op) {
    if (op->role != Role::Forward) continue;
    std::vector<bool> wants;
    for (const VarId v : op->in) wants.push_back(v != kNone && needs[v]);
    if (std::find(wants.begin(), wants.end(), true) == wants.end()) continue;
    std::vector<VarId> dy;
    for (const VarId v : op->out) dy.push_back(sums.sum(v));
    if (std::all_of(dy.begin(), dy.end(), [](VarId v) { return v == kNone; })) continue;
    const OpDef& def = op_def(op->type);
    check(def.grad, "op '", op->type, "' has no gradient (needed for '", program.vars[op->out.front()].name, "')");
    GradBuilder rule(program, 0, *op, dy, wants);
    def.grad(rule);
    for (std::size_t slot = 0; slot < op->in.size(); ++slot)
      if (rule.dx()[slot] != kNone) sums.give(op->in[slot], rule.dx()[slot]);
  }
  std::vector<ParamGrad> grads;
  for (std::size_t v = 0; v < vars; ++v)
    if (roots[v])
      if (const VarId grad = sums.sum(static_cast<VarId>(v)); grad != kNone)
        grads.push_back({static_cast<VarId>(v), grad});
  return grads;
}

}  // namespace lethe
