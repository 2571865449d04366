#include "framework/autodiff/autodiff.h"

#include "framework/autodiff/backward.h"
#include "framework/autodiff/join_gradients.h"
#include "framework/autodiff/needs.h"
#include "framework/autodiff/widen_outputs.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "framework/language/weight_blocks.h"

namespace lethe {

DType gradient_dtype(const Var& var) { return var.kind == Kind::Param ? wide_of(var.dtype) : var.dtype; }

std::vector<VarId> GradBuilder::values_of(std::vector<VarId> vars) {
  if (site_)
    for (VarId& v : vars) v = site_->value(v);
  return vars;
}

std::vector<VarId> GradBuilder::call_all(const std::string& type, std::vector<VarId> in, Attrs attrs,
                                         const std::vector<VarId>& like) {
  const OpDef& def = op_def(type);
  Op op{.type = type, .in = values_of(std::move(in)), .attrs = std::move(attrs), .role = Role::Backward};
  const std::vector<Type> types = def.infer({program_, op});
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

VarId GradBuilder::accumulator(int slot) {
  check_as(Exit::Internal, site_, forward_.type, ": no gradient is collected in place here");
  return site_->accumulator(x(slot));
}

void GradBuilder::update(const std::string& type, std::vector<VarId> in, Attrs attrs) {
  append_op(program_, block_, Role::Backward, type, values_of(std::move(in)), std::move(attrs), forward_.type);
}

std::vector<ParamGrad> append_backward(Program& program, VarId loss, const std::vector<VarId>& also, VarId seed,
                                       const std::set<VarId>& frozen, bool narrow) {
  check(program.vars[loss].shape.empty(), "the loss '", program.vars[loss].name, "' has shape ",
        text_of(program.vars[loss].shape), ", expected a scalar");
  const std::size_t vars = program.vars.size();
  std::vector<bool> roots(vars, false);
  for (std::size_t v = 0; v < vars; ++v)
    roots[v] = program.vars[v].kind == Kind::Param && !frozen.contains(static_cast<VarId>(v));
  for (const VarId v : also) roots[v] = true;
  const std::vector<bool> needs = needs_gradient(program, roots);
  if (!needs[loss]) return {};

  Backward backward(program, needs);
  if (seed == kNone) {
    const Attrs one{{"shape", Ints{}}, {"dtype", std::string(name_of(program.vars[loss].dtype))}, {"value", 1.0}};
    seed = append_op(program, 0, Role::Backward, kFillConstant, {}, one, program.vars[loss].name + "@GRAD").front();
  }
  backward.give(loss, seed);
  backward.run();
  std::vector<ParamGrad> grads;
  for (std::size_t v = 0; v < vars; ++v)
    if (roots[v])
      if (const VarId grad = backward.take(static_cast<VarId>(v)); grad != kNone)
        grads.push_back({static_cast<VarId>(v), grad});
  if (narrow) keep_narrow(program, grads);
  widen_outputs(program, grads);
  join_gradients(program, grads);
  mark_weight_blocks(program);
  verify_after("append_backward", program);
  return grads;
}

}  // namespace lethe
