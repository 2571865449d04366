#include "memopt/memopt.h"

#include <algorithm>
#include <chrono>

#include "framework/error.h"
#include "framework/op_def.h"
#include "framework/verify.h"
#include "memopt/analysis/check_order.h"
#include "memopt/analysis/check_plan.h"
#include "memopt/passes/early_update.h"
#include "memopt/passes/fuse_activations.h"
#include "memopt/passes/gather_updates.h"
#include "memopt/passes/release.h"
#include "memopt/passes/reuse.h"
#include "memopt/passes/stage_inputs.h"
#include "memopt/passes/views_for_copies.h"

namespace lethe {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// What `f` gives; `ms` is how long it took.
template <class F>
auto timed(double& ms, F f) {
  const Clock::time_point begin = Clock::now();
  auto made = f();
  ms = ms_since(begin);
  return made;
}

/// What makes every update wait for all gradients; "" if nothing does.
std::string needs_all_gradients(const Program& program) {
  for (const Op& op : program.blocks[0].ops)
    if (const auto why = op_def(op.type).needs_all_gradients) return why(op);
  return "";
}

/// What a pass makes of a program by moving its ops.
template <class Pass>
Program reordered(const char* name, Program program, const Pass& pass) {
  if (!kChecksPasses) return pass(std::move(program));
  Program moved = pass(program);
  verify_after(name, moved);
  with_context(message("after ", name), [&] { check_order(program, moved); });
  return moved;
}

/// Early updates, unless what was asked for keeps all gradients to the end anyway.
Program with_early_updates(Program program, const MemoptOptions& options, std::vector<std::string>& notes) {
  if (options.pins.skip_grads) {
    notes.emplace_back("updates stay at the end of the step: --skip-grads keeps every parameter gradient");
    return program;
  }
  if (const std::string what = needs_all_gradients(program); !what.empty())
    notes.push_back("updates stay at the end of the step: " + what + " needs all gradients first");
  return reordered("update_early", std::move(program), update_early);
}

/// A program with what its ops need, the lives of its vars and their sharing; no plan yet. Activations are fused here,
/// behind views: what writes a part of a wider var stays an op of its own.
Planned analysed(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options) {
  Planned made;
  made.program = options.fuse_activations ? fuse_activations(std::move(program), pins) : std::move(program);
  verify_after("fuse_activations", made.program);
  made.workspaces = timed(made.kernels_ms, [&] { return workspaces_of(made.program, prepared); });
  made.live = timed(made.liveness_ms, [&] { return liveness(made.program); });
  Log log(options.print_log);
  made.sharing = options.in_place ? share_in_place(made.program, made.live, pins, log)
                                  : share_views(made.program, made.live, pins);
  made.log = log.lines();
  return made;
}

/// Level 2.
void plan_in_arena(const MemoptOptions& options, Planned& made) {
  ArenaPlan arena = plan_arena(made.program, made.live, made.sharing, made.workspaces, options.seconds);
  made.plan = std::move(arena.plan);
  made.arena = arena.facts;
}

/// Level 2 with updates gathered, if that takes no byte more than without.
void plan_gathered(Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options, Planned& made) {
  const GroupsWith groups_with = [&](const Op& a, const Op& b) {
    return prepared.kernel(made.program, a).groups_with(prepared.kernel(made.program, b));
  };
  const auto gather = [&](Program program) {
    return gather_updates(std::move(program), made.live, made.sharing, made.workspaces, groups_with);
  };
  Planned gathered = analysed(reordered("gather_updates", made.program, gather), prepared, pins, options);
  gathered.kernels_ms += made.kernels_ms;
  gathered.liveness_ms += made.liveness_ms;
  plan_in_arena(options, gathered);
  const std::vector<std::int64_t> alive = bytes_alive(made.live, made.sharing, made.workspaces);
  if (gathered.arena->bytes > *std::max_element(alive.begin(), alive.end())) plan_in_arena(options, made);
  if (!made.arena || gathered.arena->bytes <= made.arena->bytes) made = std::move(gathered);
}

/// Level 2, with the ops as they are.
Planned plan_arena_of(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options) {
  Planned made = analysed(std::move(program), prepared, pins, options);
  if (options.gather_updates)
    plan_gathered(prepared, pins, options, made);
  else
    plan_in_arena(options, made);
  return made;
}

/// Level 2 with views in place of copies, if that takes no byte more than without.
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

/// None, 0 and 1: a buffer for each storage, or for several in turn.
Planned plan_in_buffers(Program program, Prepared& prepared, const std::vector<Pin>& pins,
                        const MemoptOptions& options) {
  Planned made = analysed(std::move(program), prepared, pins, options);
  const Fit fit = options.level == Level::None        ? Fit::Never
                  : options.level == Level::SameShape ? Fit::SameShape
                                                      : Fit::LargeEnough;
  Log log(options.print_log);
  std::vector<Place> of_storage;
  for (const int buffer : reuse_buffers(made.program, made.live, made.sharing, {.fit = fit}, log))
    of_storage.push_back({.buffer = buffer});
  made.log.insert(made.log.end(), log.lines().begin(), log.lines().end());
  made.plan = plan_buffers(made.program, places_of(made.sharing, of_storage), made.workspaces);
  return made;
}

}  // namespace

Plan plan_unshared(Program program, Prepared& prepared, const MemoptOptions& options) {
  if (options.fuse_activations) program = fuse_activations(std::move(program), collect_pins(program, options.pins));
  return plan_none(program, workspaces_of(program, prepared));
}

Planned plan_memory(Program program, Prepared& prepared, const MemoptOptions& options) {
  const Clock::time_point begin = Clock::now();
  const bool in_arena = options.level == Level::Arena;
  const std::vector<Pin> pins = collect_pins(program, options.pins);
  std::vector<std::string> notes;
  if (in_arena && options.early_updates) program = with_early_updates(std::move(program), options, notes);
  Planned made = !in_arena       ? plan_in_buffers(std::move(program), prepared, pins, options)
                 : options.views ? plan_with_views(std::move(program), prepared, pins, options)
                                 : plan_arena_of(std::move(program), prepared, pins, options);
  if (in_arena && options.stage_inputs)
    made.plan.staging = stage_inputs(made.program, made.live, made.sharing, made.plan, made.workspaces);
  const Sharing& sharing = made.sharing;
  if (options.level != Level::None || options.release || options.in_place)
    for (const int storage : sharing.of) made.plan.kept.push_back(sharing.storages[storage].pin != Pin::None);
  if (options.release) {
    made.program = release_memory(std::move(made.program), made.live, sharing, made.plan);
    verify_after("release_memory", made.program);
    made.live = liveness(made.program);
    made.workspaces = workspaces_of(made.program, prepared);
  }
  check_plan(made.program, options.pins, made.plan, made.workspaces);
  made.notes = std::move(notes);
  made.plan_ms = ms_since(begin) - made.kernels_ms;
  return made;
}

}  // namespace lethe
