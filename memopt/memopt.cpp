#include "memopt/memopt.h"

#include <algorithm>

#include "framework/op_def.h"
#include "memopt/analysis/check_order.h"
#include "memopt/analysis/check_plan.h"
#include "memopt/level2.h"
#include "memopt/level3.h"
#include "memopt/passes/early_update.h"
#include "memopt/passes/fuse_casts.h"
#include "memopt/passes/fuse_copies.h"
#include "memopt/passes/fuse_masks.h"
#include "memopt/passes/fuse_updates.h"
#include "memopt/passes/join_masks.h"
#include "memopt/passes/mask_picked.h"
#include "memopt/passes/mask_sums.h"
#include "memopt/passes/release.h"
#include "memopt/passes/reuse.h"
#include "memopt/passes/stage_inputs.h"
#include "memopt/timed.h"

namespace lethe {
namespace {

/// What makes every update wait for all gradients; "" if nothing does.
std::string needs_all_gradients(const Program& program) {
  for (const Op& op : program.blocks[0].ops)
    if (const auto why = op_def(op.type).needs_all_gradients)
      if (const char* const text = why(op)) return text;
  return "";
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

/// What is done for any arena before its bytes are looked at.
Program for_arena(Program program, const MemoptOptions& options, std::vector<std::string>& notes) {
  program = mask_picked(std::move(program), collect_pins(program, options.pins));
  verify_after("mask_picked", program);
  program = fuse_masks(std::move(program), collect_pins(program, options.pins));
  verify_after("fuse_masks", program);
  program = mask_sums(std::move(program), collect_pins(program, options.pins));
  verify_after("mask_sums", program);
  program = join_masks(std::move(program));
  verify_after("join_masks", program);
  program = fuse_casts(std::move(program), collect_pins(program, options.pins));
  verify_after("fuse_casts", program);
  if (options.fuse_copies) {
    program = fuse_copies(std::move(program), collect_pins(program, options.pins));
    verify_after("fuse_copies", program);
  }
  return options.early_updates ? with_early_updates(std::move(program), options, notes) : program;
}

Planned plan_by_level(Program program, Prepared& prepared, const MemoptOptions& options) {
  const std::vector<Pin> pins = collect_pins(program, options.pins);
  const auto plan = options.level == Level::Recompute ? plan_level3 : plan_level2;
  return plan(std::move(program), prepared, pins, options);
}

/// Of two that keep a budget the one that computes less again, else the one of fewer bytes.
bool is_better(const Planned& a, const Planned& b, const MemoptOptions& options) {
  const std::int64_t of_a = a.plan.bytes.total(), of_b = b.plan.bytes.total();
  const auto overhead = [](const Planned& p) { return p.recomputed ? p.recomputed->overhead : 0; };
  if (options.budget && std::max(of_a, of_b) <= *options.budget && overhead(a) != overhead(b))
    return overhead(a) < overhead(b);
  return of_a < of_b;
}

/// With updates that compute their gradients themselves, if there are any and that takes no byte more: what they read
/// lives longer, and is not made again.
Planned plan_with_fused_updates(Program program, Prepared& prepared, const MemoptOptions& options) {
  Program fused = fuse_updates(program, collect_pins(program, options.pins));
  verify_after("fuse_updates", fused);
  if (fused == program) return plan_by_level(std::move(program), prepared, options);
  Planned made = plan_by_level(std::move(fused), prepared, options),
          plain = plan_by_level(std::move(program), prepared, options);
  if (is_better(plain, made, options)) std::swap(made, plain);
  made.kernels_ms += plain.kernels_ms;
  made.liveness_ms += plain.liveness_ms;
  return made;
}

/// None, 0 and 1: a buffer for each storage, or for several in turn.
Planned plan_in_buffers(Program program, Prepared& prepared, const MemoptOptions& options) {
  const std::vector<Pin> pins = collect_pins(program, options.pins);
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
  MemoptOptions none = options;
  none.level = Level::None;
  if (suited(none, prepared.device()).fuse)
    program = fused(program, collect_pins(program, options.pins), prepared.device().kind);
  return plan_none(program, workspaces_of(program, prepared));
}

std::vector<PricedBytes> sweep_memory(Program program, Prepared& prepared, const MemoptOptions& options) {
  std::vector<std::string> notes;
  program = for_arena(std::move(program), options, notes);
  if (options.fuse_updates) program = fuse_updates(std::move(program), collect_pins(program, options.pins));
  const std::vector<Pin> pins = collect_pins(program, options.pins);
  return sweep_level3(std::move(program), prepared, pins, options);
}

Planned plan_memory(Program program, Prepared& prepared, const MemoptOptions& options) {
  const Clock::time_point begin = Clock::now();
  const bool in_arena = is_in_arena(options.level);
  std::vector<std::string> notes;
  if (in_arena) program = for_arena(std::move(program), options, notes);
  const auto plan = !in_arena ? plan_in_buffers : options.fuse_updates ? plan_with_fused_updates : plan_by_level;
  Planned made = plan(std::move(program), prepared, options);
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
