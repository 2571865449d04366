// The steps of the memory stage. plan.cpp has them from top to bottom, in the order in which docs/design.md lists them.
#pragma once
#include <type_traits>

#include "framework/error.h"
#include "framework/language/verify.h"
#include "memopt/analysis/check_order.h"
#include "memopt/planned.h"
#include "memopt/recompute/replay.h"

namespace lethe {

/// Plans forms of a program for one device under one setting. A form is a Planned of which only the program, the notes
/// and the steps are there yet; each function takes all the steps that follow, and gives the better plan where a step
/// may be left out.
class MemoryStage {
 public:
  MemoryStage(Prepared& prepared, const MemoptOptions& options) : prepared_(prepared), options_(options) {}
  const MemoptOptions& options() const { return options_; }

  /// All steps; the form that they begin with.
  Planned run(Program program);
  Planned first_form(Program program) const;
  /// All steps from the level's first on.
  Planned at_its_level(Planned form);
  /// What is done for any arena before its bytes are looked at.
  void rewrite_for_arena(Planned& form) const;
  /// Updates that compute their gradients themselves.
  void fuse_into_updates(Planned& form) const;
  /// All that backward reads is kept. `seconds` bounds the search of an arena.
  Planned keep_all(Planned form, double seconds);
  /// The same in the order that takes least of those that are tried.
  Planned keep_all_in_some_order(const Planned& form);
  /// Gradients early, if updates may be: the order that serves computing again best.
  void order_for_repeats(Planned& form) const;
  /// What ops are weighed by.
  SecondsOf seconds_of() const;
  /// The form's tape on the device.
  Tape tape_for(const Program& program) const;
  /// With what the choice of a rung does not keep made again, and all else kept; `recomputed` says what that comes to.
  Planned repeat(const Planned& form, const Tape& tape, const Rung& rung, double seconds);
  /// Sums and activations on the way of the ops before them.
  void fuse(Planned& form) const;
  /// Takes one step. The pass gets the program and, if it asks for them, its pins, and gives what it makes of it.
  template <class Pass>
  void step(const char* name, const Pass& pass, Planned& form) const;

 private:
  Planned in_arena(Planned form);
  Planned with_fused_updates(const Planned& form);
  Planned at_level(const Planned& form);
  Planned with_nearly_free_repeats(Planned form);
  Planned arrange(Planned form, double seconds);
  std::int64_t most_alive_of(const Program& program);
  void analyse(Planned& form);
  /// Puts all of it in an arena.
  void place(Planned& form, double seconds) const;
  bool may_move_updates() const;
  Tape tape_in_any_order(Program program) const;
  void take_order(Program found, Planned& form) const;
  Planned in_least_order(Planned made);
  Planned gather_with_joined_sums(const Planned& form, double seconds);
  Planned gather(const Planned& plain, double seconds);
  template <class Pass>
  Planned gathered(const char* name, const Pass& pass, Planned form);
  Planned in_buffers(Planned form);
  void finish(Planned& made);
  /// Takes a step that moves ops.
  template <class Pass>
  void order(const char* name, const Pass& pass, Planned& form) const;

  Prepared& prepared_;
  const MemoptOptions& options_;
  double liveness_ms_ = 0;  // so far
};

template <class Pass>
void MemoryStage::step(const char* name, const Pass& pass, Planned& form) const {
  const std::optional<Program> before = options_.print_log ? std::optional(form.program) : std::nullopt;
  if constexpr (std::is_invocable_v<Pass, Program, const std::vector<Pin>&>) {
    const std::vector<Pin> pins = collect_pins(form.program, options_.pins);
    form.program = pass(std::move(form.program), pins);
  } else {
    form.program = pass(std::move(form.program));
  }
  verify_after(name, form.program);
  if (!before) return;
  const std::size_t ops = before->blocks[0].ops.size(), now = form.program.blocks[0].ops.size();
  form.steps.push_back(before == form.program ? message(name, ": changes nothing")
                                              : message(name, ": ", ops, " ops -> ", now, " ops"));
}

template <class Pass>
void MemoryStage::order(const char* name, const Pass& pass, Planned& form) const {
  const std::optional<Program> before = kChecksPasses ? std::optional(form.program) : std::nullopt;
  step(name, pass, form);
  if (before) with_context(message("after ", name), [&] { check_order(*before, form.program); });
}

}  // namespace lethe
