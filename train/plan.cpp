// `train plan`: what a run would take, before there is one.
#include <cstdio>

#include "framework/error.h"
#include "train/commands.h"
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

}  // namespace

int plan(const Options& given) {
  if (given.roofline) return roofline(given);
  Options options = decided(given);
  RankOptions& ranks = options.ranks;
  check((ranks.zero == 0 && !ranks.cheapest_zero) || ranks.ranks > 1 || ranks.most > 0,
        "--zero plans for one of several ranks; add --ranks R");
  if (ranks.cheapest_zero)
    ranks.zero = cheapest_stage(program_setting(options), device_info(options.device), ranks.network);
  if (options.sweep) {
    const MemorySweep sweep = sweep_of(program_setting(options), device_info(options.device));
    if (!options.output.empty()) write_result(options.output, sweep_svg(sweep));
    write_result("", options.json ? sweep_json(sweep) : sweep_text(sweep));
    return 0;
  }
  if (ranks.most > 0) {
    const Scaling scaling = predicted_scaling(options);
    if (!options.output.empty()) write_result(options.output, scaling_svg(scaling));
    write_result("", options.json ? scaling_json(scaling) : scaling_text(scaling));
    return 0;
  }
  Progress progress(stderr, false);
  PlanReport report = report_plan(program_setting(options), device_info(options.device),
                                  [&](const std::string& line) { progress.show(line); });
  progress.clear();
  report.link = ranks.network;
  if (!options.csv.empty()) write_result(options.csv, plan_csv(report));
  for (const Planned* planned : {&report.plans.training, &report.plans.evaluation})
    for (const std::string& line : planned->log) std::puts(line.c_str());
  write_result("", options.json ? plan_json(report) : plan_text(report));
  check_budget(report);
  return 0;
}

}  // namespace lethe
