// The orders of ops in which the memory stage plans a form, and in the end a plan's own.
#include <utility>

#include "memopt/passes/early_update.h"
#include "memopt/plan.h"
#include "memopt/recompute/least_order.h"

namespace lethe {
namespace {

/// For an order, as OrderSearch takes it: of a form, of the plan that is made of it, and of one of a ladder's many.
constexpr int kLooks = 400'000, kLooksInTheEnd = 100'000, kLooksOfARung = 20'000;

}  // namespace

bool MemoryStage::may_move_updates() const { return options_.early_updates && !options_.pins.skip_grads; }

void MemoryStage::order_for_repeats(Planned& form) const {
  if (may_move_updates()) order("gradients_early", gradients_early, form);
}

/// Nothing of it is made again, and nobody asks what it takes.
Tape MemoryStage::tape_in_any_order(Program program) const {
  for (Op& op : program.blocks[0].ops) op.role = Role::Backward;
  return tape_of(program, collect_pins(program, options_.pins), workspaces_of(program, prepared_),
                 {.kind = prepared_.device().kind, .seconds_of = [](const Program&, const Op&) { return 0.0; }});
}

void MemoryStage::take_order(Program found, Planned& form) const {
  order(
      "least_order", [&](const Program&) { return std::move(found); }, form);
}

/// With gradients early if that takes less, or in an order that is looked for. That may be so where even without views
/// less is alive at once.
Planned MemoryStage::keep_all_in_some_order(const Planned& form) {
  Planned made = keep_all(form, options_.seconds), early = form;
  order_for_repeats(early);
  const auto try_order = [&](Planned& other) {
    if (other.program != form.program && most_alive_of(other.program) < made.arena->bytes)
      keep_better(made, keep_all(std::move(other), options_.seconds / 4));
  };
  try_order(early);
  if (may_move_updates()) {
    LeastOrder found = least_order(form.program, tape_in_any_order(form.program), kLooks);
    if (found.program) {
      Planned least = form;
      take_order(std::move(*found.program), least);
      try_order(least);
    }
  }
  return in_least_order(std::move(made));
}

/// Of the ops as they are in the end; they stay where they are if a device brings some of them together.
Planned MemoryStage::in_least_order(Planned made) {
  const int looks = options_.level == Level::Recompute ? kLooksOfARung : kLooksInTheEnd;
  LeastOrder least = least_order(made.program, tape_in_any_order(made.program), looks, made.arena->bytes);
  if (least.program && may_move_updates() && !options_.gather) {
    Planned other = made;
    take_order(std::move(*least.program), other);
    analyse(other);
    place(other, options_.seconds);
    keep_better(made, std::move(other));
  }
  made.arena->any_order = made.arena->bytes <= least.at_least;
  return made;
}

}  // namespace lethe
