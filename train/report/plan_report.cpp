#include "train/report/plan_report.h"

#include <algorithm>
#include <cmath>

#include "framework/error.h"
#include "framework/formatted.h"
#include "train/report/memory_report.h"
#include "train/search/what_fits.h"
#include "train/session/fed_data.h"

namespace lethe {
namespace {

constexpr const char* kStandard[] = {"none", "level=0", "level=1", "level=2"};

/// The device without trials: what is only suggested is not tried.
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

/// Changes beside the memory setting, the cheapest first: those that cost nothing, then those of the arithmetic, then
/// those of the training.
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
  if (setting.memory.levels.clip_passes != 2 && setting.training && !setting.memory.guest)
    add(
        "--clip-passes 2", "backward twice, first for the norm of all gradients; same results",
        [](ProgramSetting& s) { s.memory.levels.clip_passes = 2; }, true);
  if (setting.update.rule.clip_norm > 0 && setting.training)
    add("--clip-norm 0", "updates need not wait for all gradients",
        [](ProgramSetting& s) { s.update.rule.clip_norm = 0; });
  const std::int64_t at_once = setting.micro_batch > 0 ? setting.micro_batch : batch / setting.shards.parts;
  if (at_once % 2 == 0 && setting.training && !setting.memory.guest)
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

/// Adds what would take less, whether it fits or not.
void add_remedies(const ProgramSetting& setting, Subject& subject, PlanReport& report) {
  const auto add = [&](const std::string& change, const std::string& what, std::int64_t bytes) {
    if (bytes < report.row().bytes()) report.remedies.push_back({change, what, bytes});
  };
  add("--memopt level=2", "one exact arena; same results", report.row_of("level=2").bytes());
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
}

std::string again(double overhead) { return formatted("computing again %.1f %% of a step, predicted", 100 * overhead); }

/// The setting does not fit: whether computing again would do, and for what price.
void add_price(const ProgramSetting& setting, Subject& subject, PlanReport& report) {
  const MemoptOptions& asked = setting.memory.levels;
  const bool recomputes = asked.level == Level::Recompute;
  if (!setting.training || (recomputes && asked.budget && !asked.overhead)) return;
  MemorySetting memory = recomputes ? setting.memory : memory_setting("level=3", setting.memory);
  memory.levels.budget = report.budget();
  memory.levels.overhead.reset();
  const Plans plans = subject.planned(memory);
  LevelThree& priced = report.priced.emplace();
  priced.overhead = plans.training.recomputed->overhead;
  priced.bytes = plans.bytes.total();
  priced.least_feasible = plans.least_feasible();
  const std::string budget = asked.budget ? "" : "--memory-budget " + size_text(report.budget());
  priced.change = asked.overhead   ? formatted("--overhead %.0f%%", std::ceil(100 * priced.overhead))
                  : recomputes     ? budget
                  : budget.empty() ? "--memopt level=3"
                                   : "--memopt level=3 " + budget;
  if (priced.bytes < std::min(report.row().bytes(), report.row_of("level=2").bytes()))
    report.remedies.push_back(
        {priced.change,
         message(again(priced.overhead), plans.training.second_pass ? ", with all of backward" : "", "; same results"),
         priced.bytes});
}

/// The same: the largest batch that does, without computing again and at no more than the price of `auto`, and the
/// largest context. The search for the context is at level 2, whose plans are quick.
void add_largest(const ProgramSetting& setting, const FitSearch& search, PlanReport& report) {
  ProgramSetting level2 = setting, level3 = setting;
  level2.memory = memory_setting("level=2", setting.memory);
  if (setting.memory.levels.level != Level::Recompute) level3.memory = memory_setting("level=3", setting.memory);
  const std::string at_level2 = setting.memory.text == "level=2" ? "" : "--memopt level=2 ";
  const auto add = [&](const std::string& option, const LargestFit& fit) {
    if (!fit.fits) return;
    const std::string price = fit.overhead > 0 ? ", " + again(fit.overhead) : "";
    report.remedies.push_back({message(option, ' ', fit.number), "the largest that fits" + price, fit.bytes});
  };
  FitSearch smaller = search;
  if (setting.micro_batch == 0) {
    smaller.limit = setting.network.batch;
    const LargestFit plain = largest_batch(level2, smaller);
    add(at_level2 + "--batch", plain);
    if (plain.fits) smaller.start = start_at_level3(plain);
    if (!level3.memory.levels.overhead) level3.memory.levels.overhead = kOverheadOfAuto;
    const bool within = report.priced && report.priced->bytes <= search.budget &&
                        report.priced->overhead <= *level3.memory.levels.overhead;
    if (setting.training && !within)
      if (const LargestFit fit = largest_batch(level3, smaller); fit.number > plain.number && fit.overhead > 0)
        add(formatted("--memopt level=3 --overhead %g%% --batch", 100 * *level3.memory.levels.overhead), fit);
  }
  smaller = search;
  smaller.limit = report.context;
  try {
    if (report.context > 0) add(at_level2 + "--context", largest_context(level2, smaller));
  } catch (const Error&) {  // its file has no var for it, or it is built otherwise
  }
}

}  // namespace

std::int64_t PlanReport::ops() const {
  std::int64_t ops = 0;
  for (const Block& block : planned().program.blocks) ops += std::ssize(block.ops);
  return ops;
}

std::int64_t PlanReport::budget() const { return budget_on(device, limit); }

std::int64_t PlanReport::smallest_budget() const {
  std::int64_t least = std::min(plans.least_feasible(), priced ? priced->least_feasible : plans.bytes.total());
  for (const PlanRow& row : rows) least = std::min(least, row.bytes());
  return least;
}

const PlanRow& PlanReport::row_of(const std::string& memopt) const {
  return *std::find_if(rows.begin(), rows.end(), [&](const PlanRow& row) { return row.memopt == memopt; });
}

PlanReport report_plan(const ProgramSetting& setting, const DeviceInfo& device,
                       const std::function<void(const std::string&)>& busy, bool advise) {
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
  if (setting.training && (setting.network.frozen.any() || setting.network.lora.any())) {
    ProgramSetting unfrozen = other;
    unfrozen.network.frozen = {};
    unfrozen.network.lora = {};
    report.unfrozen = row_of_plans(
        unfrozen, asked, plan_programs(build_programs(unfrozen), other.evaluated, other.memory, subject.suggested()));
  }
  if (report.context > 0) report.parts = parts_of(report.planned(), report.row().peak);
  const bool recomputes = setting.memory.levels.level == Level::Recompute;
  const auto fits = [&](const PlanRow& row) { return row.bytes() <= report.budget(); };
  const bool suggests = !recomputes || !fits(report.row());
  const auto tell = [&](const LargestFit& tried) {
    if (busy) busy(message("looks for what fits: ", tried.number, " takes ", mebibytes(tried.bytes)));
  };
  if (!fits(report.row()) && !fits(report.row_of("level=2"))) {
    add_price(other, subject, report);
    add_largest(other, {.device = untried(device), .budget = report.budget(), .tried = tell}, report);
  }
  if (suggests || report.limit) report.stages = stages_of(report, other, subject);
  if (suggests) add_remedies(other, subject, report);
  if (advise || !fits(report.row()))
    report.advice = advice_for(other, subject.network(), report.row().bytes(), report.limit, subject.suggested(), busy);
  return report;
}

}  // namespace lethe
