#include "optimizer/averages.h"

#include <set>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/language/verify.h"

namespace lethe {

std::string average_of(const std::string& weight) { return weight + "@ema"; }

void average_weights(Program& training, Program& evaluation, const std::vector<ParamInfo>& params, double decay) {
  check(decay >= 0 && decay < 1, "`ema` is ", decay, ", expected at least 0 and below 1");
  if (decay == 0) return;
  std::vector<bool> updated(training.vars.size());
  for (const Block& block : training.blocks)
    for (const Op& op : block.ops)
      if (op_def(op.type).updates)
        for (const VarId v : op.out) updated[v] = true;
  std::set<std::string> averaged;
  for (const ParamInfo& info : params) {
    Var average = training.vars[info.var];
    if (!updated[info.var] || !is_float(average.dtype)) continue;
    averaged.insert(average.name);
    average.name = average_of(average.name);
    average.kind = Kind::State;
    append_update(training, 0, "average", {add_var(training, average), info.var}, {{"decay", decay}});
  }
  for (Var& var : evaluation.vars)
    if (is_persistable(var.kind) && averaged.contains(var.name)) var.name = average_of(var.name);
  verify_after("average_weights", training);
}

}  // namespace lethe
