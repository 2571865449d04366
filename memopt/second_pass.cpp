#include "memopt/second_pass.h"

#include <algorithm>
#include <limits>

#include "framework/language/op_def.h"
#include "framework/language/op_facts.h"
#include "memopt/passes/two_passes.h"

namespace lethe {

namespace {

/// What runs once more for it, as a share of a step of one pass: the ops that two_passes() made of those before.
Recomputed made_again(const Program& before, const Program& after, const SecondsOf& seconds_of) {
  Recomputed second;
  double step = 0, again = 0;
  for (const Op& op : before.blocks[0].ops)
    if (!runs_nothing(op)) step += seconds_of(before, op);
  const auto vars = static_cast<VarId>(before.vars.size());
  for (const Op& op : after.blocks[0].ops) {
    if (op.role != Role::Backward || runs_nothing(op) || op.out.front() < vars) continue;
    again += seconds_of(after, op);
    second.mult_adds += mult_adds_of(after, op);
    ++second.ops;
  }
  second.overhead = again / std::max(step, 1e-9);
  return second;
}

}  // namespace

Planned plan_in_passes(MemoryStage& stage, const Planned& form) {
  const MemoptOptions& options = stage.options();
  if (options.clip_passes == 2) return stage.at_its_level(in_two_passes(stage, form));
  Planned made = stage.at_its_level(form);
  const bool may_be_two = !options.clip_passes && options.level == Level::Recompute && options.budget &&
                          !options.pins.skip_grads && why_no_two_passes(form.program).empty();
  if (!may_be_two || (bytes_of(made) <= *options.budget && made.recomputed->overhead == 0)) return made;
  Planned two = in_two_passes(stage, form);
  const double price = two.second_pass->overhead;
  if (bytes_of(made) <= *options.budget && made.recomputed->overhead <= price) return made;
  two = stage.at_its_level(std::move(two));
  const std::int64_t least = std::min(*made.recomputed->least_feasible, *two.recomputed->least_feasible);
  if (two.recomputed->overhead <= options.overhead.value_or(std::numeric_limits<double>::infinity()))
    keep_better(made, std::move(two),
                [&](const Planned& a, const Planned& b) { return computes_less_again(a, b, *options.budget); });
  made.recomputed->least_feasible = least;
  return made;
}

Planned in_two_passes(const MemoryStage& stage, Planned form) {
  check(!stage.options().pins.skip_grads,
        "`clip_passes` 2 goes without `skip_grads`, which keeps every parameter gradient");
  const Program once = form.program;
  stage.step("two_passes", two_passes, form);
  form.second_pass = made_again(once, form.program, stage.seconds_of());
  return form;
}

Recomputed with_second_pass(const Recomputed& beside, const Recomputed& second) {
  Recomputed both = beside;
  both.ops += second.ops;
  both.mult_adds += second.mult_adds;
  both.overhead = beside.overhead * (1 + second.overhead) + second.overhead;
  both.forward = beside.forward * (1 + second.overhead) + second.overhead;
  return both;
}

double overhead_beside(const Recomputed& second, double overhead) {
  return std::max((overhead - second.overhead) / (1 + second.overhead), 0.0);
}

}  // namespace lethe
