#include "train/plan_report.h"

#include <algorithm>

#include "framework/error.h"
#include "kernels/cpu_device.h"
#include "train/programs.h"
#include "train/recipe.h"

namespace lethe {
namespace {

constexpr const char* kStandard[] = {"none", "level=0", "level=1", "level=2"};

Prepared prepared_for(const Options& options) { return Prepared(open_cpu(options.threads)->info()); }

std::int64_t bytes_under(const Options& options) {
  Prepared prepared = prepared_for(options);
  return planned_program(options, prepared).plan.bytes.total();
}

/// Options changed in one way, how one says so, and what it is.
struct Change {
  Options options;
  std::string change, what;
};

/// What can be changed, the cheapest first: what costs nothing, then what changes the arithmetic, then what changes the
/// training.
std::vector<Change> changes_of(const Options& options) {
  std::vector<Change> changes;
  const auto add = [&](const std::string& change, const std::string& what, const auto& apply) {
    changes.push_back({options, change, what});
    apply(changes.back().options);
  };
  if (options.memopt != "level=2")
    add("--memopt level=2", "one exact arena; same results", [](Options& o) { o.memopt = "level=2"; });
  if (options.skip_grads)
    add("no --skip-grads", "gradients need not last to the end of the step", [](Options& o) { o.skip_grads = false; });
  if (!options.skip_vars.empty()) add("no --skip-vars", "", [](Options& o) { o.skip_vars.clear(); });
  if (options.dtype == DType::f64)
    add("--dtype f32", "half the bytes a number", [](Options& o) { o.dtype = DType::f32; });
  if (options.clip_norm && !options.inference)
    add("no --clip-norm", "updates need not wait for all gradients", [](Options& o) { o.clip_norm.reset(); });
  if (*options.batch > 1)
    add(message("--batch ", *options.batch / 2), "half the batch", [](Options& o) { o.batch = *o.batch / 2; });
  if (options.optimizer != "sgd" && !options.inference)
    add("--optimizer sgd", "no state a parameter", [](Options& o) { o.optimizer = "sgd", o.momentum.reset(); });
  return changes;
}

std::vector<Remedy> remedies_of(const Options& options, std::int64_t bytes) {
  std::vector<Remedy> remedies;
  for (const Change& change : changes_of(options))
    if (const std::int64_t after = bytes_under(change.options); after < bytes)
      remedies.push_back({change.change, change.what, after});
  return remedies;
}

/// The largest batch that fits at level=2, if there is one.
void add_largest_batch(Options options, std::vector<Remedy>& remedies) {
  options.memopt = "level=2";
  std::int64_t fits = 0, too_large = *options.batch, bytes = 0;
  while (too_large - fits > 1) {
    options.batch = fits + (too_large - fits) / 2;
    const std::int64_t needed = bytes_under(options);
    if (needed > *options.memory_budget)
      too_large = *options.batch;
    else
      fits = *options.batch, bytes = needed;
  }
  if (fits > 0) remedies.push_back({message("--memopt level=2 --batch ", fits), "the largest that fits", bytes});
}

}  // namespace

std::int64_t PlanReport::smallest_budget() const {
  return std::min_element(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.bytes() < b.bytes(); })->bytes();
}

PlanReport report_plan(const Options& options) {
  Prepared prepared = prepared_for(options);
  PlanReport report{.options = options, .network = options.model, .planned = planned_program(options, prepared)};
  report.all = bytes_of_all_vars(report.planned.program, prepared);
  Options other = options;
  other.print_log = false;
  for (const char* memopt : kStandard) {
    other.memopt = memopt;
    report.rows.push_back({memopt, peak_of(planned_program(other, prepared), prepared)});
  }
  const auto found = std::find_if(report.rows.begin(), report.rows.end(),
                                  [&](const PlanRow& row) { return row.memopt == options.memopt; });
  report.asked = static_cast<std::size_t>(found - report.rows.begin());
  if (found == report.rows.end()) report.rows.push_back({options.memopt, peak_of(report.planned, prepared)});
  other.memopt = options.memopt;
  report.remedies = remedies_of(other, report.row().bytes());
  if (options.memory_budget && report.row().bytes() > *options.memory_budget) add_largest_batch(other, report.remedies);
  return report;
}

}  // namespace lethe
