#include "memopt/level3.h"

#include <algorithm>
#include <limits>

#include "framework/op_def.h"
#include "memopt/analysis/check_order.h"
#include "memopt/level2.h"
#include "memopt/passes/early_update.h"
#include "memopt/recompute/repeated.h"
#include "memopt/recompute/search.h"
#include "memopt/recompute/seconds.h"

namespace lethe {
namespace {

/// The rungs of a ladder, each planned when it is asked for.
class Ladder {
 public:
  Ladder(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options)
      : program_(std::move(program)),
        prepared_(prepared),
        options_(options),
        tape_(tape_of(program_, pins, workspaces_of(program_, prepared),
                      {.kind = prepared.device().kind,
                       .fuses = options.fuse,
                       .seconds_of = options.seconds_of ? options.seconds_of : seconds_on(prepared.device())})),
        rungs_(ladder(tape_)) {}

  int size() const { return static_cast<int>(rungs_.size()); }
  double overhead(int i) const { return rungs_[i].seconds / std::max(tape_.seconds, 1e-9); }
  /// The overhead of a forward pass.
  double forward() const { return tape_.forward_seconds / std::max(tape_.seconds, 1e-9); }
  /// Most bytes alive at once, before the ops are fused.
  std::int64_t peak(int i) const { return rungs_[i].peak; }

  /// Looks for an arena as long as the options say.
  Planned plan(int i) const { return plan(i, options_); }
  /// No longer than a tenth of that.
  Planned quick_plan(int i) const {
    MemoptOptions quick = options_;
    quick.seconds /= 10;
    return plan(i, quick);
  }

 private:
  Planned plan(int i, const MemoptOptions& options) const {
    const std::vector<Step> steps = *steps_of(tape_, rungs_[i].choice);
    Program program = repeated(program_, tape_, steps);
    verify_after("recompute", program);
    const std::vector<Pin> pins = collect_pins(program, options.pins);
    Planned made = plan_level2(std::move(program), prepared_, pins, options);
    made.recomputed = {.overhead = overhead(i)};
    for (const Step& step : steps) {
      if (!step.repeated) continue;
      ++made.recomputed->ops;
      made.recomputed->mult_adds += mult_adds_of(program_, program_.blocks[0].ops[step.op]);
    }
    return made;
  }

  Program program_;
  Prepared& prepared_;
  const MemoptOptions& options_;
  Tape tape_;
  std::vector<Rung> rungs_;
};

std::int64_t bytes_of(const Planned& planned) { return planned.plan.bytes.total(); }

/// The last rung that costs no more: the least for that price.
int last_within(const Ladder& ladder, double overhead) {
  int last = 0;
  while (last + 1 < ladder.size() && ladder.overhead(last + 1) <= overhead) ++last;
  return last;
}

/// The first up to `last` that fits, else that.
Planned within_budget(const Ladder& ladder, int last, std::int64_t budget) {
  for (int i = 0; i < last; ++i) {
    Planned made = ladder.quick_plan(i);
    const std::int64_t at_least = bytes_of(made) - made.arena->bytes + made.arena->lower_bound;
    if (bytes_of(made) > budget && at_least <= budget) made = ladder.plan(i);
    if (bytes_of(made) <= budget) return made;
  }
  return ladder.plan(last);
}

/// Bytes of the least plan: mostly the last, but offsets may leave gaps.
std::int64_t least_of(const Ladder& ladder) {
  const Planned last = ladder.quick_plan(ladder.size() - 1);
  std::int64_t least = bytes_of(last);
  for (int i = ladder.size() - 1; i-- > 0 && ladder.peak(i) < last.arena->bytes;)
    least = std::min(least, bytes_of(ladder.quick_plan(i)));
  return least;
}

/// Level 2, at no price.
Planned plain_plan(const Program& program, Prepared& prepared, const std::vector<Pin>& pins,
                   const MemoptOptions& options) {
  Planned plain = plan_level2(program, prepared, pins, options);
  plain.recomputed = Recomputed{};
  return plain;
}

/// Of the program in the order that serves recomputing best.
Ladder ladder_of(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options) {
  if (options.early_updates && !options.pins.skip_grads)
    program = reordered("gradients_early", std::move(program), gradients_early);
  return {std::move(program), prepared, pins, options};
}

}  // namespace

Planned plan_level3(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options) {
  Planned made = plain_plan(program, prepared, pins, options);
  const Ladder ladder = ladder_of(std::move(program), prepared, pins, options);
  const std::int64_t least = least_of(ladder);
  if (!options.budget || bytes_of(made) > *options.budget) {
    const double any_price = std::numeric_limits<double>::infinity();
    const int last = last_within(ladder, options.overhead.value_or(options.budget ? any_price : ladder.forward()));
    Planned again = options.budget ? within_budget(ladder, last, *options.budget) : ladder.plan(last);
    if (bytes_of(again) < bytes_of(made)) made = std::move(again);
  }
  made.recomputed->least_feasible = std::min(least, bytes_of(made));
  return made;
}

std::vector<PricedBytes> sweep_level3(Program program, Prepared& prepared, const std::vector<Pin>& pins,
                                      const MemoptOptions& options) {
  const Planned plain = plain_plan(program, prepared, pins, options);
  std::vector<PricedBytes> all = {{plain.plan.bytes, *plain.recomputed}};
  const Ladder ladder = ladder_of(std::move(program), prepared, pins, options);
  for (int i = 0; i < ladder.size(); ++i) {
    const Planned made = ladder.plan(i);
    if (bytes_of(made) < all.back().bytes.total()) all.push_back({made.plan.bytes, *made.recomputed});
  }
  for (PricedBytes& point : all) point.recomputed.least_feasible = all.back().bytes.total();
  return all;
}

}  // namespace lethe
