#include "memopt/ladder.h"

#include <algorithm>
#include <limits>

#include "memopt/recompute/search.h"
#include "memopt/second_pass.h"

namespace lethe {
namespace {

/// The rungs of a ladder, each planned when it is asked for.
class Ladder {
 public:
  Ladder(MemoryStage& stage, Planned form)
      : stage_(stage),
        form_(ordered(stage, std::move(form))),
        tape_(stage.tape_for(form_.program)),
        rungs_(ladder(tape_)) {}

  int size() const { return static_cast<int>(rungs_.size()); }
  double overhead(int i) const { return overhead_of(tape_, rungs_[i]); }
  /// The overhead of a forward pass.
  double forward() const { return tape_.forward_seconds / std::max(tape_.seconds, 1e-9); }
  /// Most bytes alive at once, before the ops are fused.
  std::int64_t peak(int i) const { return rungs_[i].peak; }

  /// Looks for an arena as long as the options say.
  Planned plan(int i) const { return stage_.repeat(form_, tape_, rungs_[i], stage_.options().seconds); }
  /// No longer than a tenth of that.
  Planned quick_plan(int i) const { return stage_.repeat(form_, tape_, rungs_[i], stage_.options().seconds / 10); }

 private:
  static Planned ordered(const MemoryStage& stage, Planned form) {
    stage.order_for_repeats(form);
    return form;
  }

  MemoryStage& stage_;
  Planned form_;
  Tape tape_;
  std::vector<Rung> rungs_;
};

/// The last rung that costs no more.
int last_within(const Ladder& ladder, double overhead) {
  int last = 0;
  while (last + 1 < ladder.size() && ladder.overhead(last + 1) <= overhead) ++last;
  return last;
}

/// Up to `last` the one that peaks lowest.
int least_until(const Ladder& ladder, int last) {
  int least = 0;
  for (int i = 1; i <= last; ++i)
    if (ladder.peak(i) < ladder.peak(least)) least = i;
  return least;
}

/// The first up to `last` that fits, else the least of them.
Planned within_budget(const Ladder& ladder, int last, std::int64_t budget) {
  std::vector<std::int64_t> at_least;  // bytes that a longer search for an arena may come to
  Planned least;
  for (int i = 0; i <= last; ++i) {
    Planned made = ladder.quick_plan(i);
    at_least.push_back(bytes_of(made) - made.arena->bytes + made.arena->lower_bound);
    if (bytes_of(made) > budget && at_least.back() <= budget) made = ladder.plan(i);
    if (bytes_of(made) <= budget) return made;
    if (i == 0 || takes_fewer_bytes(made, least)) least = std::move(made);
  }
  for (int i = 0; i <= last; ++i)
    if (at_least[i] < bytes_of(least)) keep_better(least, ladder.plan(i));
  return least;
}

/// Up to `last` the one whose plan takes the fewest bytes: mostly that of the lowest peak, but offsets may leave gaps.
int least_planned(const Ladder& ladder, int last) {
  int best = least_until(ladder, last);
  Planned least = ladder.quick_plan(best);
  for (int i = last; i >= 0; --i) {
    if (i == best || ladder.peak(i) >= least.arena->bytes + least.arena->bytes / 100) continue;
    Planned made = ladder.quick_plan(i);
    if (!takes_fewer_bytes(made, least)) continue;
    least = std::move(made);
    best = i;
  }
  return best;
}

/// What of the price that was asked for is left for computing again.
std::optional<double> price_left(const MemoptOptions& options, const Planned& form) {
  if (!options.overhead || !form.second_pass) return options.overhead;
  return overhead_beside(*form.second_pass, *options.overhead);
}

/// At no price.
Planned plain_plan(MemoryStage& stage, const Planned& form) {
  Planned plain = stage.keep_all_in_some_order(form);
  plain.recomputed = Recomputed{};
  return plain;
}

}  // namespace

Planned plan_on_ladder(MemoryStage& stage, const Planned& form) {
  const MemoptOptions& options = stage.options();
  Planned made = plain_plan(stage, form);
  const Ladder ladder(stage, form);
  const std::int64_t least = bytes_of(ladder.quick_plan(least_planned(ladder, ladder.size() - 1)));
  if (!options.budget || bytes_of(made) > *options.budget) {
    const double any_price = std::numeric_limits<double>::infinity();
    const std::optional<double> price = price_left(options, form);
    const int last = last_within(ladder, price.value_or(options.budget ? any_price : ladder.forward()));
    keep_better(
        made, options.budget ? within_budget(ladder, last, *options.budget) : ladder.plan(least_planned(ladder, last)));
  }
  made.recomputed->least_feasible = std::min(least, bytes_of(made));
  return made;
}

std::vector<PricedBytes> sweep_ladder(MemoryStage& stage, const Planned& form) {
  const Planned plain = plain_plan(stage, form);
  std::vector<PricedBytes> all = {{plain.plan.bytes, *plain.recomputed}};
  const Ladder ladder(stage, form);
  for (int i = 0; i < ladder.size(); ++i) {
    const Planned made = ladder.plan(i);
    if (bytes_of(made) < all.back().bytes.total()) all.push_back({made.plan.bytes, *made.recomputed});
  }
  for (PricedBytes& point : all) {
    point.recomputed.least_feasible = all.back().bytes.total();
    point.recomputed.forward = ladder.forward();
  }
  return all;
}

}  // namespace lethe
