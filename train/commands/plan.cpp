// `train plan`: what a run would take, before there is one.
#include <cstdio>

#include "framework/error.h"
#include "train/launches.h"
#include "train/option_groups.h"
#include "train/recipe.h"
#include "train/report/formatted.h"
#include "train/report/memory_report.h"
#include "train/report/plan_report.h"
#include "train/report/progress.h"
#include "train/report/scaling.h"
#include "train/report/streams.h"
#include "train/report/sweep.h"
#include "train/session/device.h"
#include "train/settings_of_options.h"

namespace lethe {
namespace {

/// What is asked of a plan.
struct PlanAsked {
  bool json = false, sweep = false, roofline = false;
  std::string csv = {};
};

/// What the plan's own options mean to each other and to those of ranks.
void check_plan_options(const PlanAsked& asked, const Options& o) {
  const RankOptions& ranks = o.ranks;
  const bool predicts = ranks.most > 0;
  check(o.output.empty() || asked.sweep || predicts, "--out is of --sweep and of --ranks A..B: a plan has no picture");
  check(!predicts || (!asked.sweep && !o.inference && asked.csv.empty()),
        "--ranks A..B predicts training; it goes without --sweep, --eval and --csv");
  check(!predicts || !o.memopt.levels.budget, "--ranks A..B goes without --memory-budget: it says what is taken");
  check(predicts || !ranks.exchange, "--exchange is of --ranks A..B: a run exchanges in pieces");
  check(!ranks.network || ((ranks.ranks > 1 || predicts) && !asked.sweep && !o.inference),
        "--network is of training on several ranks, between which it lies: it needs --ranks R or A..B, and goes "
        "without --sweep and --eval");
  check(!ranks.cheapest_zero || !asked.sweep, kZeroAuto);
}

/// What of all else fits, as the end of a line.
std::string what_fits(const PlanReport& report) {
  const auto fits = [&](std::int64_t bytes) { return bytes <= report.budget(); };
  if (fits(report.row_of("level=2").bytes())) return "; --memopt level=2 fits";
  std::string text;
  if (report.priced && fits(report.priced->bytes))
    text = message("; ", report.priced->change, " fits",
                   formatted(", for %.1f %% of a step", 100 * report.priced->overhead));
  const ZeroStage* const stage = report.cheapest_stage();
  return stage ? message(text, "; --zero ", stage->zero, " fits") : text;
}

void check_budget(const PlanReport& report) {
  const std::int64_t budget = report.budget(), least = report.smallest_budget(), taken = report.row().bytes();
  if (taken <= budget) return;
  fail_as(Exit::Budget, report.network, " at batch ", batch_text(report.setting), " with ", report.setting.memory.text,
          " takes ", taken, " bytes (", mebibytes(taken), "), more than ",
          budget == report.limit ? "the --memory-budget" : "the memory of " + report.device.name, " of ", budget, " (",
          mebibytes(budget), "); the smallest that is enough",
          least < taken && report.priced && report.priced->least_feasible == least ? " at --memopt level=3" : "",
          " is ", least, " (", mebibytes(least), ")", what_fits(report));
}

/// For many ranks, of which the first have at least a shard each.
Scaling predicted_scaling(const Options& options) {
  const RankOptions& ranks = options.ranks;
  check(ranks.network.has_value(), "--ranks A..B needs --network RATE,LATENCY: what links between ranks do");
  ProgramSetting setting = program_setting(options);
  if (!ranks.shards) setting.shards.parts = ranks.ranks;
  return scaling_of(setting, device_info(options.device), ranks.most, *ranks.network,
                    ranks.exchange.value_or(Exchange::Pieces));
}

int plan(const PlanAsked& asked, const Options& given) {
  if (asked.roofline) return write_count(given, "--roofline", asked.json ? "json" : "text");
  Options options = decided(given);
  RankOptions& ranks = options.ranks;
  check((ranks.zero == 0 && !ranks.cheapest_zero) || ranks.ranks > 1 || ranks.most > 0,
        "--zero plans for one of several ranks; add --ranks R");
  if (ranks.cheapest_zero)
    ranks.zero = cheapest_stage(program_setting(options), device_info(options.device), ranks.network);
  if (asked.sweep) {
    const MemorySweep sweep = sweep_of(program_setting(options), device_info(options.device));
    if (!options.output.empty()) write_result(options.output, sweep_svg(sweep));
    write_result("", asked.json ? sweep_json(sweep) : sweep_text(sweep));
    return 0;
  }
  if (ranks.most > 0) {
    const Scaling scaling = predicted_scaling(options);
    if (!options.output.empty()) write_result(options.output, scaling_svg(scaling));
    write_result("", asked.json ? scaling_json(scaling) : scaling_text(scaling));
    return 0;
  }
  Progress progress(stderr, false);
  PlanReport report = report_plan(program_setting(options), device_info(options.device),
                                  [&](const std::string& line) { progress.show(line); });
  progress.clear();
  report.link = ranks.network;
  if (!asked.csv.empty()) write_result(asked.csv, plan_csv(report));
  for (const Planned* planned : {&report.plans.training, &report.plans.evaluation})
    for (const std::string& line : planned->log) std::puts(line.c_str());
  write_result("", asked.json ? plan_json(report) : plan_text(report));
  check_budget(report);
  return 0;
}

Run declare_plan(OptionSet& set, Options& o) {
  const auto own = std::make_shared<PlanAsked>();
  add_network(set, o);
  add_batch(set, o, kBatchHelp, Largest::CanBeFound);
  add_micro_batch(set, o, Largest::CanBeFound);
  add_context(set, o);
  add_ranks(set, o);
  add_predicted_ranks(set, o);
  add_optimizer(set, o);
  set.in("Data");
  set.add_flag("--eval", o.inference, "Plans evaluation instead of training");
  add_interval(set, "--eval-every", o.eval_every, "0: training alone; else evaluation between its steps too (default)")
      ->is({Fact::Kept})
      ->excludes("--eval");
  add_machine(set, o);
  add_memopt(set, o, "level=2");
  add_print_log(set, o);
  add_budget(set, o);
  set.in("Output");
  set.add_flag("--json", own->json, "The figures as JSON");
  set.add_flag("--sweep", own->sweep, "What level=3 takes at each price, instead of the plan of one setting")
      ->excludes("--eval")
      ->excludes("--memopt")
      ->excludes("--memory-budget")
      ->excludes("--overhead");
  set.add("--out", o.output, "FILE", "With --sweep or --ranks A..B: also writes the picture of that there, as SVG");
  set.add("--csv", own->csv, "FILE", "Writes what the arena packs, as train pack reads it (level=2)");
  set.add_flag("--roofline", own->roofline,
               "Instead: launches, operations and bytes of a step by op, and the least time they take on that GPU")
      ->excludes("--sweep")
      ->excludes("--csv");
  set.finally([&o, own] {
    o.facts.prices = own->sweep || o.ranks.most > 0;
    check_plan_options(*own, o);
  });
  return [own](const Options& options) { return plan(*own, options); };
}

const RegisterCommand plan_command{
    {.word = "plan",
     .help = "Says to the byte what a run takes under each memory setting, and what takes less.",
     .examples = {{"train plan --model resnet20 --memory-budget 200MiB", "exits with 3 if that is not enough"},
                  {"train plan --model resnet50 --batch 128 --device h200", "for a GPU that is not there"}},
     .declare = declare_plan}};

}  // namespace
}  // namespace lethe
