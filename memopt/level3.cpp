#include "memopt/level3.h"

#include <algorithm>
#include <limits>

#include "memopt/level2.h"
#include "memopt/recompute/search.h"

namespace lethe {
namespace {

/// The rungs of a ladder, each planned when it is asked for.
class Ladder {
 public:
  Ladder(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options)
      : program_(std::move(program)),
        prepared_(prepared),
        options_(options),
        tape_(tape_for(program_, workspaces_of(program_, prepared), prepared.device(), pins, options)),
        rungs_(ladder(tape_)) {}

  int size() const { return static_cast<int>(rungs_.size()); }
  double overhead(int i) const { return overhead_of(tape_, rungs_[i]); }
  /// The overhead of a forward pass.
  double forward() const { return tape_.forward_seconds / std::max(tape_.seconds, 1e-9); }
  /// Most bytes alive at once, before the ops are fused.
  std::int64_t peak(int i) const { return rungs_[i].peak; }

  /// Looks for an arena as long as the options say.
  Planned plan(int i) const { return plan_rung(program_, tape_, rungs_[i], prepared_, options_); }
  /// No longer than a tenth of that.
  Planned quick_plan(int i) const {
    MemoptOptions quick = options_;
    quick.seconds /= 10;
    return plan_rung(program_, tape_, rungs_[i], prepared_, quick);
  }

 private:
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

/// At no price.
Planned plain_plan(const Program& program, Prepared& prepared, const std::vector<Pin>& pins,
                   const MemoptOptions& options) {
  Planned plain = plan_kept(program, prepared, pins, options);
  plain.recomputed = Recomputed{};
  return plain;
}

}  // namespace

Planned plan_level3(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options) {
  Planned made = plain_plan(program, prepared, pins, options);
  const Ladder ladder(ordered_for_repeats(std::move(program), options), prepared, pins, options);
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
  const Ladder ladder(ordered_for_repeats(std::move(program), options), prepared, pins, options);
  for (int i = 0; i < ladder.size(); ++i) {
    const Planned made = ladder.plan(i);
    if (bytes_of(made) < all.back().bytes.total()) all.push_back({made.plan.bytes, *made.recomputed});
  }
  for (PricedBytes& point : all) point.recomputed.least_feasible = all.back().bytes.total();
  return all;
}

}  // namespace lethe
