#include "memopt/plan.h"

#include <algorithm>
#include <utility>

#include "framework/language/op_def.h"
#include "framework/timed.h"
#include "memopt/analysis/check_plan.h"
#include "memopt/ladder.h"
#include "memopt/passes/early_update.h"
#include "memopt/passes/fuse_activations.h"
#include "memopt/passes/fuse_casts.h"
#include "memopt/passes/fuse_copies.h"
#include "memopt/passes/fuse_masks.h"
#include "memopt/passes/fuse_products.h"
#include "memopt/passes/fuse_shortcut_norms.h"
#include "memopt/passes/fuse_sums.h"
#include "memopt/passes/fuse_updates.h"
#include "memopt/passes/gather_copies.h"
#include "memopt/passes/gather_updates.h"
#include "memopt/passes/join_masks.h"
#include "memopt/passes/join_sums.h"
#include "memopt/passes/mask_picked.h"
#include "memopt/passes/mask_sums.h"
#include "memopt/passes/release.h"
#include "memopt/passes/reuse.h"
#include "memopt/passes/stage_inputs.h"
#include "memopt/passes/views_for_copies.h"
#include "memopt/recompute/nearly_free.h"
#include "memopt/recompute/repeated.h"
#include "memopt/recompute/seconds.h"
#include "memopt/second_pass.h"

namespace lethe {
namespace {

/// What makes every update wait for all gradients; "" if nothing does.
std::string needs_all_gradients(const Program& program) {
  for (const Op& op : program.blocks[0].ops)
    if (const AllGradients* const all = op_def(op.type).all_gradients)
      if (const char* const text = all->why_wait(op)) return text;
  return "";
}

/// Whether there is a backward for which ops could run once more.
bool may_repeat(const Program& program) {
  return std::ranges::any_of(program.blocks[0].ops, [](const Op& op) { return op.role == Role::Backward; });
}

std::int64_t most_alive(const Planned& analysed) {
  const std::vector<std::int64_t> alive = bytes_alive(analysed.live, analysed.sharing, analysed.workspaces);
  return *std::max_element(alive.begin(), alive.end());
}

}  // namespace

Planned MemoryStage::first_form(Program program) const {
  Planned form{.program = std::move(program)};
  if (options_.fuse_products) step("fuse_products", fuse_products, form);
  return form;
}

Planned MemoryStage::run(Program program) {
  const Clock::time_point begin = Clock::now();
  const double kernels_before = prepared_.kernels_ms();
  Planned made = plan_in_passes(*this, first_form(std::move(program)));
  finish(made);
  made.kernels_ms = prepared_.kernels_ms() - kernels_before;
  made.liveness_ms = liveness_ms_;
  made.plan_ms = ms_since(begin) - made.kernels_ms;
  return made;
}

Planned MemoryStage::at_its_level(Planned form) {
  Planned made = is_in_arena(options_.level) ? in_arena(std::move(form)) : in_buffers(std::move(form));
  if (made.second_pass) made.recomputed = with_second_pass(made.recomputed.value_or(Recomputed{}), *made.second_pass);
  return made;
}

Planned MemoryStage::in_arena(Planned form) {
  rewrite_for_arena(form);
  return options_.fuse_updates ? with_fused_updates(form) : at_level(form);
}

void MemoryStage::rewrite_for_arena(Planned& form) const {
  step("mask_picked", mask_picked, form);
  step("fuse_masks", fuse_masks, form);
  step("mask_sums", mask_sums, form);
  step("join_masks", join_masks, form);
  step("fuse_casts", fuse_casts, form);
  step("fuse_copies", options_.fuse_copies ? fuse_copies : fuse_blocks, form);
  if (!options_.early_updates) return;
  if (options_.pins.skip_grads) {
    form.notes.emplace_back("updates stay at the end of the step: `skip_grads` keeps every parameter gradient");
    return;
  }
  if (const std::string what = needs_all_gradients(form.program); !what.empty())
    form.notes.push_back("updates stay at the end of the step: " + what + " needs all gradients first");
  order("update_early", update_early, form);
}

void MemoryStage::fuse_into_updates(Planned& form) const { step("fuse_updates", fuse_updates, form); }

/// With them, unless that takes a byte more: what they read lives longer, and is not made again.
Planned MemoryStage::with_fused_updates(const Planned& form) {
  Planned fused = form;
  fuse_into_updates(fused);
  if (fused.program == form.program) return at_level(form);
  Planned made = at_level(fused);
  keep_better(made, at_level(form), [&](const Planned& a, const Planned& b) {
    return options_.budget ? computes_less_again(a, b, *options_.budget) : bytes_of(a) < bytes_of(b);
  });
  return made;
}

Planned MemoryStage::at_level(const Planned& form) {
  return options_.level == Level::Recompute ? plan_on_ladder(*this, form) : with_nearly_free_repeats(form);
}

/// At most kNearlyFree of a step by prediction.
Planned MemoryStage::with_nearly_free_repeats(Planned form) {
  Planned made = keep_all_in_some_order(form);
  if (!may_repeat(form.program)) return made;
  order_for_repeats(form);
  const Tape tape = tape_for(form.program);
  if (const std::optional<Rung> rung = nearly_free(tape))
    keep_better(made, repeat(form, tape, *rung, options_.seconds));
  return made;
}

SecondsOf MemoryStage::seconds_of() const {
  return options_.costs.seconds_of ? options_.costs.seconds_of : seconds_on(prepared_.device());
}

Tape MemoryStage::tape_for(const Program& program) const {
  return tape_of(program, collect_pins(program, options_.pins), workspaces_of(program, prepared_),
                 {.kind = prepared_.device().kind, .fuses = options_.fuse, .seconds_of = seconds_of()});
}

Planned MemoryStage::repeat(const Planned& form, const Tape& tape, const Rung& rung, double seconds) {
  const std::vector<Step> steps = *steps_of(tape, rung.choice);
  Planned again = form;
  step(
      "recompute", [&](const Program& program) { return repeated(program, tape, steps); }, again);
  Planned made = in_least_order(keep_all(std::move(again), seconds));
  made.recomputed = {.overhead = overhead_of(tape, rung), .costs = options_.costs.name};
  for (const Step& taken : steps) {
    if (!taken.repeated) continue;
    ++made.recomputed->ops;
    made.recomputed->mult_adds += mult_adds_of(form.program, form.program.blocks[0].ops[taken.op]);
  }
  return made;
}

/// What is alive at once, without views and in whatever arena.
std::int64_t MemoryStage::most_alive_of(const Program& program) {
  Planned trial{.program = program};
  if (options_.fuse) fuse(trial);
  analyse(trial);
  return most_alive(trial);
}

/// With views in place of copies, unless that takes a byte more.
Planned MemoryStage::keep_all(Planned form, double seconds) {
  if (!options_.views) return arrange(std::move(form), seconds);
  bool has_views = false;
  Planned views = form;
  const auto pass = [&](Program program, const std::vector<Pin>& pins) {
    std::optional<Program> viewing = views_for_copies(program, pins, prepared_.device().alignment,
                                                      [&](const Program& tried) { return most_alive_of(tried); });
    has_views = viewing.has_value();
    return viewing ? std::move(*viewing) : std::move(program);
  };
  step("views_for_copies", pass, views);
  Planned made = arrange(std::move(views), seconds);
  if (has_views && made.arena->bytes > made.arena->lower_bound) keep_better(made, arrange(std::move(form), seconds));
  return made;
}

void MemoryStage::place(Planned& form, double seconds) const {
  ArenaPlan arena = plan_arena(form.program, form.live, form.sharing, form.workspaces, seconds);
  form.plan = std::move(arena.plan);
  form.arena = arena.facts;
}

Planned MemoryStage::arrange(Planned form, double seconds) {
  if (options_.fuse) fuse(form);
  analyse(form);
  if (options_.gather) return gather_with_joined_sums(form, seconds);
  place(form, seconds);
  return form;
}

/// With sums joined, unless that takes a byte more.
Planned MemoryStage::gather_with_joined_sums(const Planned& form, double seconds) {
  Planned joined = form;
  step("join_sums", join_sums, joined);
  if (joined.program == form.program) return gather(form, seconds);
  analyse(joined);
  const std::int64_t most = most_alive(form);
  if (most_alive(joined) > most) return gather(form, seconds);
  Planned made = gather(joined, seconds);
  if (made.arena->bytes > most) keep_better(made, gather(form, seconds));
  return made;
}

/// After views: what writes a part of a wider var stays an op of its own.
void MemoryStage::fuse(Planned& form) const {
  step("fuse_sums", fuse_sums, form);
  step("fuse_shortcut_norms", fuse_shortcut_norms, form);
  step(
      "fuse_activations",
      [&](Program program, const std::vector<Pin>& pins) {
        return fuse_activations(std::move(program), pins, prepared_.device().kind);
      },
      form);
}

void MemoryStage::analyse(Planned& form) {
  form.workspaces = workspaces_of(form.program, prepared_);
  form.live = timed(liveness_ms_, [&] { return liveness(form.program); });
  const std::vector<Pin> pins = collect_pins(form.program, options_.pins);
  Log log(options_.print_log);
  form.sharing = options_.in_place ? share_in_place(form.program, form.live, pins, log)
                                   : share_views(form.program, form.live, pins);
  form.log = log.lines();
}

/// What a pass that brings ops together makes of a form.
template <class Pass>
Planned MemoryStage::gathered(const char* name, const Pass& pass, Planned form) {
  const GroupsWith groups_with = [&](const Op& a, const Op& b) {
    return prepared_.kernel(form.program, a).groups_with(prepared_.kernel(form.program, b));
  };
  const auto gather = [&](Program program) {
    return pass(std::move(program), form.live, form.sharing, form.workspaces, groups_with);
  };
  Planned made = form;
  order(name, gather, made);
  analyse(made);
  return made;
}

/// With updates gathered, and copies, each unless that takes a byte more. What takes no more than is alive is taken as
/// it is: the other forms take at least that.
Planned MemoryStage::gather(const Planned& plain, double seconds) {
  const std::int64_t most = most_alive(plain);
  Planned updates = gathered("gather_updates", gather_updates, plain);
  Planned made = gathered("gather_copies", gather_copies, updates);
  place(made, seconds);
  if (made.arena->bytes <= most) return made;
  place(updates, seconds);
  const bool is_best = updates.arena->bytes <= most;
  keep_better(made, std::move(updates));
  if (is_best) return made;
  Planned as_it_is = plain;
  place(as_it_is, seconds);
  keep_better(made, std::move(as_it_is));
  return made;
}

/// None, 0 and 1: a buffer for each storage, or for several in turn.
Planned MemoryStage::in_buffers(Planned form) {
  if (options_.fuse) fuse(form);
  analyse(form);
  const Fit fit = options_.level == Level::None        ? Fit::Never
                  : options_.level == Level::SameShape ? Fit::SameShape
                                                       : Fit::LargeEnough;
  Log log(options_.print_log);
  std::vector<Place> of_storage;
  for (const int buffer : reuse_buffers(form.program, form.live, form.sharing, {.fit = fit}, log))
    of_storage.push_back({.buffer = buffer});
  form.log.insert(form.log.end(), log.lines().begin(), log.lines().end());
  form.plan = plan_buffers(form.program, places_of(form.sharing, of_storage), form.workspaces);
  return form;
}

void MemoryStage::finish(Planned& made) {
  if (is_in_arena(options_.level) && options_.stage_inputs)
    made.plan.staging = stage_inputs(made.program, made.live, made.sharing, made.plan, made.workspaces);
  const Sharing& sharing = made.sharing;
  if (options_.level != Level::None || options_.release || options_.in_place)
    for (const int storage : sharing.of) made.plan.kept.push_back(sharing.storages[storage].pin != Pin::None);
  if (options_.release) {
    const auto release = [&](Program program) {
      return release_memory(std::move(program), made.live, sharing, made.plan);
    };
    step("release_memory", release, made);
    made.live = liveness(made.program);
    made.workspaces = workspaces_of(made.program, prepared_);
  }
  check_plan(made.program, options_.pins, made.plan, made.workspaces);
  made.log.insert(made.log.begin(), made.steps.begin(), made.steps.end());
}

}  // namespace lethe
