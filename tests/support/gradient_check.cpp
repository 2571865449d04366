#include "tests/support/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "framework/error.h"
#include "framework/language/verify.h"

namespace lethe::testing {
namespace {

/// By position: forward ops, and those of other roles that make what the loss follows from, as a gradient op does that
/// was joined with its forward op (framework/autodiff/join_gradients.h).
std::vector<bool> ops_for(const Program& program, VarId loss) {
  const std::vector<Op>& ops = program.blocks[0].ops;
  std::vector<bool> runs(ops.size()), wanted(program.vars.size());
  wanted[loss] = true;
  for (std::size_t i = ops.size(); i-- > 0;) {
    const auto is_wanted = [&](VarId v) { return wanted[v]; };
    runs[i] = std::any_of(ops[i].out.begin(), ops[i].out.end(), is_wanted);
    if (runs[i])
      for (const VarId v : ops[i].in)
        if (v != kNone) wanted[v] = true;
    runs[i] = runs[i] || ops[i].role == Role::Forward;
  }
  return runs;
}

double loss_of(Interpreter& values, VarId loss) {
  const std::vector<bool> runs = ops_for(values.program(), loss);
  for (std::size_t op = 0; op < runs.size(); ++op)
    if (runs[op]) values.run_op(op);
  return values.number(loss);
}

/// (f(x + step) - f(x - step)) over the distance of the two points as they are represented.
double central_difference(Interpreter& values, VarId loss, VarId var, std::int64_t i, double step) {
  const double x = values.number(var, i), right = x + step, left = x - step;
  values.set(var, i, right);
  const double above = loss_of(values, loss);
  values.set(var, i, left);
  const double below = loss_of(values, loss);
  values.set(var, i, x);
  return (above - below) / (right - left);
}

/// Below this a difference tells no more of a gradient: the loss sums about as many rounded terms as the largest var
/// has elements, and the error of such a sum grows with the root of their number.
double floor_of(const Program& program, const std::vector<VarId>& vars, const GradientCheck& options) {
  std::int64_t terms = 1;
  for (const VarId var : vars) terms = std::max(terms, elements(program.vars[var].shape));
  return options.floor * std::sqrt(static_cast<double>(terms));
}

/// The gradients are those of the states that the step began with: dropout reads the number of the step.
void run_and_restore_states(Interpreter& values) {
  std::map<VarId, Guarded> before;
  for (VarId v = 0; v < static_cast<VarId>(values.program().vars.size()); ++v)
    if (values.program().vars[v].kind == Kind::State)
      before.emplace(v, values.memory(v).bytes()).first->second.copy_from(values.memory(v));
  values.run();
  for (const auto& [v, memory] : before) values.memory(v).copy_from(memory);
}

/// By VarId of a gradient: its elements, before differences run ops that make it, too.
std::map<VarId, std::vector<double>> values_of(const Interpreter& values, const std::vector<ParamGrad>& grads) {
  std::map<VarId, std::vector<double>> all;
  for (const ParamGrad& pair : grads)
    for (std::int64_t i = 0; i < elements(values.program().vars[pair.grad].shape); ++i)
      all[pair.grad].push_back(values.number(pair.grad, i));
  return all;
}

bool near_kink(double x, const GradientCheck& options) {
  return std::any_of(options.kinks.begin(), options.kinks.end(),
                     [&](double kink) { return std::abs(x - kink) < options.window; });
}

}  // namespace

std::string wrong_gradient(Interpreter& values, VarId loss, const std::vector<VarId>& vars,
                           const std::vector<ParamGrad>& grads, const GradientCheck& options) {
  const Program& program = values.program();
  run_and_restore_states(values);
  const std::map<VarId, std::vector<double>> all_given = values_of(values, grads);
  const double floor = floor_of(program, vars, options);
  std::string worst_text;
  double worst = options.tolerance;
  for (const VarId var : vars) {
    const auto entry = std::find_if(grads.begin(), grads.end(), [&](const ParamGrad& g) { return g.param == var; });
    const std::int64_t count = elements(program.vars[var].shape);
    const std::int64_t stride = (count + options.most_elements - 1) / options.most_elements;
    for (std::int64_t i = 0; i < count; i += stride) {
      if (near_kink(values.number(var, i), options)) continue;
      const double given = entry == grads.end() ? 0 : all_given.at(entry->grad)[static_cast<std::size_t>(i)];
      const double difference = central_difference(values, loss, var, i, options.step);
      const double error = std::abs(given - difference) / std::max({floor, std::abs(given), std::abs(difference)});
      if (error <= worst) continue;
      worst = std::isnan(error) ? HUGE_VAL : error;
      worst_text = message("gradient of '", program.vars[var].name, "', element ", i, ": ", given,
                           entry == grads.end() ? " (the rule gives none)" : "", ", by differences ", difference);
    }
  }
  return worst_text;
}

std::string wrong_gradient(const TrainingProgram& made) {
  verify(made.network.program);
  Interpreter values(made.network.program);
  fill_network(made.network, values);
  std::vector<VarId> vars;
  for (const ParamInfo& info : made.network.params)
    if (made.network.program.vars[info.var].kind == Kind::Param && !made.network.frozen.contains(info.var))
      vars.push_back(info.var);
  return wrong_gradient(values, made.network.loss, vars, made.grads);
}

}  // namespace lethe::testing
