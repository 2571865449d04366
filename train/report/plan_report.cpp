#include "train/report/plan_report.h"

#include <algorithm>

#include "framework/error.h"
#include "train/session/fed_data.h"
#include "train/session/largest_fit.h"

namespace lethe {
namespace {

constexpr const char* kStandard[] = {"none", "level=0", "level=1", "level=2"};

/// What is only suggested is not tried.
DeviceInfo untried(DeviceInfo device) {
  device.trials = nullptr;
  return device;
}

/// The programs of a run: built once, for all settings of memory and pins. Kernels are prepared once for them and for
/// what is suggested.
class Subject {
 public:
  Subject(const ProgramSetting& setting, const DeviceInfo& device)
      : prepared_(device),
        untried_(untried(device)),
        programs_(build_programs(setting)),
        evaluated_(setting.evaluated) {}
  const Network& network() const { return programs_.evaluation; }
  Plans planned(const MemorySetting& memory) { return plan_programs(programs_, evaluated_, memory, prepared_); }
  std::int64_t bytes_of_suggested(const ProgramSetting& setting) { return planned_bytes(setting, suggested()); }
  /// Kernels of what is suggested.
  Prepared& suggested() { return prepared_.device().trials ? untried_ : prepared_; }

 private:
  Prepared prepared_, untried_;
  Programs programs_;
  bool evaluated_;
};

PlanRow row_of_plans(const ProgramSetting& setting, const std::string& memopt, const Plans& plans) {
  const Planned& planned = setting.training ? plans.training : plans.evaluation;
  return {.memopt = memopt,
          .peak = peak_of(planned),
          .evaluation = plans.bytes.total() - planned.plan.bytes.total(),
          .arena = planned.arena};
}

/// A setting changed in one way, how one says so, and what it is.
struct Change {
  ProgramSetting setting;
  std::string change, what;
  bool same_programs;
};

/// What can be changed beside the memory setting, the cheapest first: what costs nothing, then what changes the
/// arithmetic, then what changes the training.
std::vector<Change> changes_of(const ProgramSetting& setting, std::int64_t context) {
  std::vector<Change> changes;
  const auto add = [&](const std::string& change, const std::string& what, const auto& apply, bool same = false) {
    changes.push_back({setting, change, what, same});
    apply(changes.back().setting);
  };
  const PinOptions& pins = setting.memory.levels.pins;
  const DType dtype = setting.network.dtype;
  const std::int64_t batch = setting.network.batch;
  if (pins.skip_grads)
    add(
        "no --skip-grads", "gradients need not last to the end of the step",
        [](ProgramSetting& s) { s.memory.levels.pins.skip_grads = false; }, true);
  if (!pins.skip_vars.empty())
    add(
        "no --skip-vars", "", [](ProgramSetting& s) { s.memory.levels.pins.skip_vars.clear(); }, true);
  if (dtype == DType::f64)
    add("--dtype f32", "half the bytes a number", [](ProgramSetting& s) { s.network.dtype = DType::f32; });
  if (dtype == DType::f32)
    add("--dtype bf16", "half the bytes an activation; parameters stay f32",
        [](ProgramSetting& s) { s.network.dtype = DType::bf16; });
  if (setting.update.rule.clip_norm > 0 && setting.training)
    add("--clip-norm 0", "updates need not wait for all gradients",
        [](ProgramSetting& s) { s.update.rule.clip_norm = 0; });
  const std::int64_t at_once = setting.micro_batch > 0 ? setting.micro_batch : batch / setting.shards.parts;
  if (at_once % 2 == 0 && setting.training && !setting.memory.optnet)
    add(message("--micro-batch ", at_once / 2), "half the samples at once, gradients summed",
        [=](ProgramSetting& s) { s.micro_batch = at_once / 2; });
  if (batch > 1 && setting.micro_batch == 0)
    add(message("--batch ", batch / 2), "half the batch", [](ProgramSetting& s) { s.network.batch /= 2; });
  if (context > 1)
    add(message("--context ", context / 2), "half the symbols at once",
        [=](ProgramSetting& s) { s.network.sets[kContextVar] = std::to_string(context / 2); });
  if (setting.update.name != "sgd" && setting.training)
    add("--optimizer sgd", "no state a parameter", [](ProgramSetting& s) {
      s.update.name = "sgd";
      s.update.rule.type = OptimizerType::Sgd;
      s.update.rule.momentum = 0;
    });
  return changes;
}

std::vector<ZeroStage> stages_of(const PlanReport& report, const ProgramSetting& setting, Subject& subject) {
  if (!setting.training || setting.shards.rank.of == 1) return {};
  std::vector<ZeroStage> stages = {
      {setting.shards.zero, report.row().bytes(), traffic_of(report.plans.training.program)}};
  for (const ZeroStage& stage : stages_above(setting, subject.suggested())) stages.push_back(stage);
  return stages;
}

std::vector<Remedy> remedies_of(const PlanReport& report, const ProgramSetting& setting, Subject& subject) {
  std::vector<Remedy> remedies;
  const auto add = [&](const std::string& change, const std::string& what, std::int64_t bytes) {
    if (bytes < report.row().bytes()) remedies.push_back({change, what, bytes});
  };
  add("--memopt level=2", "one exact arena; same results", report.row_of("level=2").bytes());
  const bool recomputes = setting.memory.levels.level == Level::Recompute;
  if (setting.training && !recomputes && report.limit && report.row().bytes() > *report.limit)
    if (const std::int64_t bytes = subject.planned(memory_setting("level=3", setting.memory)).bytes.total();
        bytes < report.row_of("level=2").bytes())
      add("--memopt level=3", "some of the forward pass is computed again; same results", bytes);
  if (report.device.kind == DeviceKind::Cpu && report.device.winograd) {
    DeviceInfo device = untried(report.device);
    device.winograd = false;
    Prepared plain(device);
    add("--no-winograd", "convolutions by sums of products: slower, less workspace", planned_bytes(setting, plain));
  }
  constexpr const char* kShared[] = {"", "states of the update", "gradients, too,", "parameters, too,"};
  for (const ZeroStage& stage : report.stages)
    add(message("--zero ", stage.zero), message(kShared[stage.zero], " shared out among the ranks"), stage.bytes);
  for (const Change& c : changes_of(setting, report.context)) {
    try {
      add(c.change, c.what,
          c.same_programs ? subject.planned(c.setting.memory).bytes.total() : subject.bytes_of_suggested(c.setting));
    } catch (const Error&) {  // it is none: the network cannot be changed so
    }
  }
  return remedies;
}

/// The setting's batch and context do not fit: finds the largest of each that does, if there is one. The search for the
/// context makes some twenty plans, so it makes them at level 2: such plans are quick.
void add_largest(const ProgramSetting& setting, PlanReport& report) {
  const bool recomputes = setting.memory.levels.level == Level::Recompute;
  ProgramSetting level2 = setting;
  level2.memory = memory_setting("level=2", setting.memory);
  const std::string at_level2 = "--memopt level=2 ";
  const auto add = [&](const std::string& option, const LargestFit& fit) {
    if (fit.number > 0)
      report.remedies.push_back({message(option, ' ', fit.number), "the largest that fits", fit.bytes});
  };
  const DeviceInfo device = untried(report.device);
  if (setting.micro_batch == 0)
    add((recomputes ? "" : at_level2) + "--batch",
        largest_batch(recomputes ? setting : level2, device, report.budget(), setting.network.batch));
  try {
    if (report.context > 0)
      add(at_level2 + "--context", largest_context(level2, device, report.budget(), report.context));
  } catch (const Error&) {  // its file has no var for it, or it is built otherwise
  }
}

}  // namespace

std::int64_t PlanReport::budget() const { return budget_on(device, limit); }

std::int64_t PlanReport::smallest_budget() const {
  return std::min_element(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.bytes() < b.bytes(); })->bytes();
}

std::int64_t PlanReport::least_feasible() const {
  const std::int64_t stored = plans.training.plan.bytes.params + plans.training.plan.bytes.states;
  const std::int64_t evaluated = plans.evaluation.arena ? plans.evaluation.arena->bytes : 0;
  return std::max(*planned().recomputed->least_feasible, stored + evaluated);
}

const PlanRow& PlanReport::row_of(const std::string& memopt) const {
  return *std::find_if(rows.begin(), rows.end(), [&](const PlanRow& row) { return row.memopt == memopt; });
}

PlanReport report_plan(const ProgramSetting& setting, const DeviceInfo& device) {
  const std::string& asked = setting.memory.text;
  Subject subject(setting, device);
  Plans plans = subject.planned(setting.memory);
  PlanReport report{.setting = setting,
                    .limit = setting.memory.levels.budget,
                    .network = setting.network.model,
                    .device = device,
                    .plans = std::move(plans),
                    .context = symbols_of_sample(subject.network())};
  ProgramSetting other = setting;
  other.memory.levels.print_log = false;
  for (const std::string memopt : kStandard) {
    const Plans plans = memopt == asked ? report.plans : subject.planned(memory_setting(memopt, other.memory));
    const Planned& planned = setting.training ? plans.training : plans.evaluation;
    if (memopt == "none") report.all = bytes_of_all_vars(planned.program, planned.workspaces);
    if (memopt == asked) report.asked = report.rows.size();
    report.rows.push_back(row_of_plans(setting, memopt, plans));
  }
  if (report.row().memopt != asked) {
    report.asked = report.rows.size();
    report.rows.push_back(row_of_plans(setting, asked, report.plans));
  }
  if (report.context > 0) report.parts = parts_of(report.planned(), report.row().peak);
  const bool recomputes = setting.memory.levels.level == Level::Recompute;
  const bool suggests = !recomputes || report.row().bytes() > report.budget();
  if (suggests || report.limit) report.stages = stages_of(report, other, subject);
  if (suggests) report.remedies = remedies_of(report, other, subject);
  const auto fits = [&](const PlanRow& row) { return row.bytes() <= report.budget(); };
  if (!fits(report.row()) && !fits(report.row_of("level=2"))) add_largest(other, report);
  return report;
}

}  // namespace lethe
