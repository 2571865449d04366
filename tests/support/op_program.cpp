#include "tests/support/op_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "kernels/cpu/workers.h"
#include "tests/support/objective.h"

namespace lethe::testing {
namespace {

std::vector<VarId> float_outputs(const Sample& sample, const OpProgram& made) {
  if (!sample.through.empty()) {
    std::vector<VarId> vars;
    for (const int slot : sample.through) vars.push_back(made.out.at(static_cast<std::size_t>(slot)));
    return vars;
  }
  std::vector<VarId> vars;
  for (const VarId v : made.out)
    if (is_float(made.program.vars[v].dtype)) vars.push_back(v);
  return vars;
}

}  // namespace

OpProgram program_of(const Sample& sample, DType dtype) {
  OpProgram made;
  std::vector<VarId> differentiable;
  for (const SampleInput& in : sample.in) {
    if (in.absent) {
      made.in.push_back(kNone);
      continue;
    }
    const std::string name = message("in", made.in.size());
    made.in.push_back(
        add_var(made.program, {.name = name, .shape = in.shape, .dtype = dtype_of(in, dtype), .kind = in.kind}));
    if (in.kind == Kind::Input && made.program.vars.back().dtype == (in.wide ? wide_of(dtype) : dtype))
      differentiable.push_back(made.in.back());
  }
  const OpDef& def = op_def(sample.op);
  const bool copies = def.updates && sample.gradient;  // what is changed in place is none of the inputs then
  std::vector<VarId> in = made.in;
  for (std::size_t slot = 0; copies && slot < def.outputs.size(); ++slot)
    in[slot] = append_op(made.program, 0, Role::Forward, "assign", {in[slot]}, {}, "copy").front();
  const Role role = def.updates && !copies ? Role::Optimize : Role::Forward;
  made.out = append_op(made.program, 0, role, sample.op, in, attrs_of(sample, dtype), "out");
  if (!sample.gradient || !is_float(dtype)) return made;
  made.loss = append_objective(made.program, float_outputs(sample, made));
  made.grads = append_backward(made.program, made.loss, differentiable);
  return made;
}

void fill_inputs(const Sample& sample, const OpProgram& op_program, Interpreter& values) {
  for (std::size_t slot = 0; slot < sample.in.size(); ++slot) {
    const VarId in = op_program.in[slot];
    if (in == kNone) continue;
    values.fill_uniform(in, sample.in[slot].low, sample.in[slot].high, slot);
    for (std::int64_t i = 1; sample.in[slot].texts && i < elements(sample.in[slot].shape); ++i)
      values.set(in, i, std::min(values.number(in, i), values.number(in, i - 1) + 1));
  }
}

bool by_tests_alone(const std::string& type) { return type.rfind(kTestOpPrefix, 0) == 0; }

void for_each_op(const Sample& sample, const CheckOp& check, int threads) {
  const Workers workers(threads);
  for (const DType dtype : sample.dtypes) {
    const OpProgram made = program_of(sample, dtype);
    verify(made.program);
    Interpreter values(made.program, {.threads = threads});
    fill_inputs(sample, made, values);
    const std::vector<Op>& ops = made.program.blocks[0].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      SCOPED_TRACE(::testing::Message() << "op '" << ops[i].type << "', " << name_of(dtype));
      if (values.kernel(i) && !by_tests_alone(ops[i].type)) check(values, ops[i], *values.kernel(i));
      values.run_op(i);
    }
  }
}

std::vector<std::string> sample_names() {
  std::map<std::string, int> rows;
  std::vector<std::string> names;
  for (const Sample& sample : all_samples()) names.push_back(message(sample.op, '_', ++rows[sample.op]));
  return names;
}

}  // namespace lethe::testing
