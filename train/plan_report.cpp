#include "train/plan_report.h"

#include <algorithm>
#include <limits>

#include "framework/error.h"
#include "train/device.h"

namespace lethe {
namespace {

constexpr const char* kStandard[] = {"none", "level=0", "level=1", "level=2"};

/// The programs of a run: built once, for all settings of memory and pins.
class Subject {
 public:
  Subject(const Options& options, const DeviceInfo& device) : prepared_(device), programs_(build_programs(options)) {}
  Plans planned(const Options& options) { return plan_programs(programs_, is_evaluated(options), options, prepared_); }

 private:
  Prepared prepared_;
  Programs programs_;
};

PlanRow row_of_plans(const Options& options, const Plans& plans) {
  const Planned& planned = options.inference ? plans.evaluation : plans.training;
  return {.memopt = options.memopt,
          .peak = peak_of(planned),
          .evaluation = plans.bytes.total() - planned.plan.bytes.total(),
          .arena = planned.arena};
}

/// Options changed in one way, how one says so, and what it is.
struct Change {
  Options options;
  std::string change, what;
  bool same_programs;
};

/// What can be changed beside the setting, the cheapest first: what costs nothing, then what changes the arithmetic,
/// then what changes the training.
std::vector<Change> changes_of(const Options& options) {
  std::vector<Change> changes;
  const auto add = [&](const std::string& change, const std::string& what, const auto& apply, bool same = false) {
    changes.push_back({options, change, what, same});
    apply(changes.back().options);
  };
  if (options.skip_grads)
    add(
        "no --skip-grads", "gradients need not last to the end of the step", [](Options& o) { o.skip_grads = false; },
        true);
  if (!options.skip_vars.empty())
    add(
        "no --skip-vars", "", [](Options& o) { o.skip_vars.clear(); }, true);
  if (options.dtype == DType::f64)
    add("--dtype f32", "half the bytes a number", [](Options& o) { o.dtype = DType::f32; });
  if (options.dtype == DType::f32)
    add("--dtype bf16", "half the bytes an activation; parameters stay f32", [](Options& o) { o.dtype = DType::bf16; });
  if (options.clip_norm && !options.inference)
    add("no --clip-norm", "updates need not wait for all gradients", [](Options& o) { o.clip_norm.reset(); });
  if (*options.batch > 1)
    add(message("--batch ", *options.batch / 2), "half the batch", [](Options& o) { o.batch = *o.batch / 2; });
  if (options.optimizer != "sgd" && !options.inference)
    add("--optimizer sgd", "no state a parameter", [](Options& o) { o.optimizer = "sgd", o.momentum.reset(); });
  return changes;
}

/// What a run with these options would take.
std::int64_t bytes_of(const Options& options, const DeviceInfo& device) {
  return Subject(options, device).planned(options).bytes.total();
}

std::vector<Remedy> remedies_of(const PlanReport& report, const Options& options, Subject& subject) {
  std::vector<Remedy> remedies;
  const auto add = [&](const std::string& change, const std::string& what, std::int64_t bytes) {
    if (bytes < report.row().bytes()) remedies.push_back({change, what, bytes});
  };
  add("--memopt level=2", "one exact arena; same results", report.row_of("level=2").bytes());
  for (const Change& c : changes_of(options))
    add(c.change, c.what,
        c.same_programs ? subject.planned(c.options).bytes.total() : bytes_of(c.options, report.device));
  return remedies;
}

/// The largest batch that fits at level=2, if there is one: the options' own does not.
void add_largest_batch(Options options, PlanReport& report) {
  options.memopt = "level=2";
  std::int64_t fits = 0, too_large = *options.batch, bytes = 0;
  while (too_large - fits > 1) {
    options.batch = fits + (too_large - fits) / 2;
    const std::int64_t needed = bytes_of(options, report.device);
    if (needed > report.budget())
      too_large = *options.batch;
    else
      fits = *options.batch, bytes = needed;
  }
  if (fits > 0) report.remedies.push_back({message("--memopt level=2 --batch ", fits), "the largest that fits", bytes});
}

}  // namespace

std::int64_t PlanReport::budget() const {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  return std::min(options.memory_budget.value_or(kNone), device.memory > 0 ? device.memory : kNone);
}

std::int64_t PlanReport::smallest_budget() const {
  return std::min_element(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.bytes() < b.bytes(); })->bytes();
}

const PlanRow& PlanReport::row_of(const std::string& memopt) const {
  return *std::find_if(rows.begin(), rows.end(), [&](const PlanRow& row) { return row.memopt == memopt; });
}

PlanReport report_plan(const Options& options) {
  const DeviceInfo device = device_info(options);
  Subject subject(options, device);
  Plans plans = subject.planned(options);
  PlanReport report{.options = options, .network = options.model, .device = device, .plans = std::move(plans)};
  report.all = bytes_of_all_vars(report.planned().program, report.planned().workspaces);
  Options other = options;
  other.print_log = false;
  for (const char* memopt : kStandard) {
    other.memopt = memopt;
    if (memopt == options.memopt) report.asked = report.rows.size();
    report.rows.push_back(row_of_plans(other, memopt == options.memopt ? report.plans : subject.planned(other)));
  }
  other.memopt = options.memopt;
  if (report.row().memopt != options.memopt) {
    report.asked = report.rows.size();
    report.rows.push_back(row_of_plans(options, report.plans));
  }
  report.remedies = remedies_of(report, other, subject);
  const auto fits = [&](const PlanRow& row) { return row.bytes() <= report.budget(); };
  if (!fits(report.row()) && !fits(report.row_of("level=2"))) add_largest_batch(other, report);
  return report;
}

}  // namespace lethe
