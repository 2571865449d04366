#include "memopt/level2.h"

#include <algorithm>

#include "framework/op_def.h"
#include "memopt/analysis/check_order.h"
#include "memopt/passes/early_update.h"
#include "memopt/passes/fuse_activations.h"
#include "memopt/passes/fuse_addends.h"
#include "memopt/passes/fuse_sums.h"
#include "memopt/passes/gather_copies.h"
#include "memopt/passes/gather_updates.h"
#include "memopt/passes/views_for_copies.h"
#include "memopt/recompute/cheap_repeats.h"
#include "memopt/recompute/repeated.h"
#include "memopt/recompute/seconds.h"
#include "memopt/timed.h"

namespace lethe {
namespace {

void plan_in_arena(const MemoptOptions& options, Planned& made) {
  ArenaPlan arena = plan_arena(made.program, made.live, made.sharing, made.workspaces, options.seconds);
  made.plan = std::move(arena.plan);
  made.arena = arena.facts;
}

/// What a pass that brings ops together makes of a program.
template <class Pass>
Planned gathered_by(const Pass& pass, const char* name, const Planned& made, Prepared& prepared,
                    const std::vector<Pin>& pins, const MemoptOptions& options) {
  const GroupsWith groups_with = [&](const Op& a, const Op& b) {
    return prepared.kernel(made.program, a).groups_with(prepared.kernel(made.program, b));
  };
  const auto gather = [&](Program program) {
    return pass(std::move(program), made.live, made.sharing, made.workspaces, groups_with);
  };
  Planned gathered = analysed(reordered(name, made.program, gather), prepared, pins, options);
  gathered.kernels_ms += made.kernels_ms;
  gathered.liveness_ms += made.liveness_ms;
  return gathered;
}

/// With updates gathered, and copies, each if that takes no byte more than without.
void plan_gathered(Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options, Planned& made) {
  const std::vector<std::int64_t> alive = bytes_alive(made.live, made.sharing, made.workspaces);
  const std::int64_t most = *std::max_element(alive.begin(), alive.end());
  Planned updates = gathered_by(gather_updates, "gather_updates", made, prepared, pins, options);
  Planned both = gathered_by(gather_copies, "gather_copies", updates, prepared, pins, options);
  plan_in_arena(options, both);
  if (both.arena->bytes <= most) {
    made = std::move(both);
    return;
  }
  plan_in_arena(options, updates);
  if (updates.arena->bytes > most) plan_in_arena(options, made);
  if (!made.arena || updates.arena->bytes <= made.arena->bytes) made = std::move(updates);
  if (both.arena->bytes <= made.arena->bytes) made = std::move(both);
}

/// With the ops as they are.
Planned plan_arena_of(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options) {
  Planned made = analysed(std::move(program), prepared, pins, options);
  if (options.gather)
    plan_gathered(prepared, pins, options, made);
  else
    plan_in_arena(options, made);
  return made;
}

/// With views in place of copies, if that takes no byte more than without.
Planned plan_with_views(Program program, Prepared& prepared, const std::vector<Pin>& pins,
                        const MemoptOptions& options) {
  double kernels_ms = 0;  // of those that are made to find out
  const auto most_alive = [&](const Program& tried) {
    const Planned made = analysed(tried, prepared, pins, options);
    kernels_ms += made.kernels_ms;
    const std::vector<std::int64_t> alive = bytes_alive(made.live, made.sharing, made.workspaces);
    return *std::max_element(alive.begin(), alive.end());
  };
  std::optional<Program> viewing = views_for_copies(program, pins, prepared.device().alignment, most_alive);
  if (!viewing) return plan_arena_of(std::move(program), prepared, pins, options);
  verify_after("views_for_copies", *viewing);
  Planned made = plan_arena_of(std::move(*viewing), prepared, pins, options);
  if (made.arena->bytes > made.arena->lower_bound) {
    Planned copying = plan_arena_of(std::move(program), prepared, pins, options);
    if (copying.arena->bytes < made.arena->bytes) std::swap(made, copying);
    kernels_ms += copying.kernels_ms;
  }
  made.kernels_ms += kernels_ms;
  return made;
}

/// Whether there is a backward for which cheap ops could run once more.
bool may_repeat(const Program& program) {
  const std::vector<Op>& ops = program.blocks[0].ops;
  return std::any_of(ops.begin(), ops.end(), [](const Op& op) { return op.role == Role::Backward; }) &&
         std::any_of(ops.begin(), ops.end(),
                     [](const Op& op) { return op.role == Role::Forward && op_def(op.type).cheap; });
}

}  // namespace

Program fused(Program program, const std::vector<Pin>& pins, DeviceKind device) {
  program = fuse_sums(std::move(program), pins);
  verify_after("fuse_sums", program);
  program = fuse_addends(std::move(program), pins);
  verify_after("fuse_addends", program);
  program = fuse_activations(std::move(program), pins, device);
  verify_after("fuse_activations", program);
  return program;
}

Planned analysed(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options) {
  Planned made;
  made.program = options.fuse ? fused(std::move(program), pins, prepared.device().kind) : std::move(program);
  made.workspaces = timed(made.kernels_ms, [&] { return workspaces_of(made.program, prepared); });
  made.live = timed(made.liveness_ms, [&] { return liveness(made.program); });
  Log log(options.print_log);
  made.sharing = options.in_place ? share_in_place(made.program, made.live, pins, log)
                                  : share_views(made.program, made.live, pins);
  made.log = log.lines();
  return made;
}

Planned plan_kept(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options) {
  return options.views ? plan_with_views(std::move(program), prepared, pins, options)
                       : plan_arena_of(std::move(program), prepared, pins, options);
}

Tape tape_for(const Program& program, const Workspaces& workspaces, const DeviceInfo& device,
              const std::vector<Pin>& pins, const MemoptOptions& options) {
  return tape_of(program, pins, workspaces,
                 {.kind = device.kind,
                  .fuses = options.fuse,
                  .seconds_of = options.seconds_of ? options.seconds_of : seconds_on(device)});
}

Planned plan_rung(const Program& program, const Tape& tape, const Rung& rung, Prepared& prepared,
                  const MemoptOptions& options) {
  const std::vector<Step> steps = *steps_of(tape, rung.choice);
  Program again = repeated(program, tape, steps);
  verify_after("recompute", again);
  const std::vector<Pin> pins = collect_pins(again, options.pins);
  Planned made = plan_kept(std::move(again), prepared, pins, options);
  made.recomputed = {.overhead = overhead_of(tape, rung)};
  for (const Step& step : steps) {
    if (!step.repeated) continue;
    ++made.recomputed->ops;
    made.recomputed->mult_adds += mult_adds_of(program, program.blocks[0].ops[step.op]);
  }
  return made;
}

Program ordered_for_repeats(Program program, const MemoptOptions& options) {
  if (!options.early_updates || options.pins.skip_grads) return program;
  return reordered("gradients_early", std::move(program), gradients_early);
}

Planned plan_level2(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options) {
  Planned made = plan_kept(program, prepared, pins, options);
  if (!may_repeat(program)) return made;
  program = ordered_for_repeats(std::move(program), options);
  double kernels_ms = 0;
  const Workspaces workspaces = timed(kernels_ms, [&] { return workspaces_of(program, prepared); });
  made.kernels_ms += kernels_ms;
  const Tape tape = tape_for(program, workspaces, prepared.device(), pins, options);
  if (const std::optional<Rung> rung = cheap_repeats(tape, kNearlyFree * tape.seconds)) {
    Planned again = plan_rung(program, tape, *rung, prepared, options);
    if (again.arena->bytes < made.arena->bytes) std::swap(made, again);
    made.kernels_ms += again.kernels_ms;
    made.liveness_ms += again.liveness_ms;
  }
  return made;
}

}  // namespace lethe
