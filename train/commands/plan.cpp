// `train plan`: what a run would take, before there is one.
#include <cstdio>

#include "framework/error.h"
#include "framework/formatted.h"
#include "train/data/data_spec.h"
#include "train/launches.h"
#include "train/option_groups.h"
#include "train/recipe.h"
#include "train/report/memory_report.h"
#include "train/report/plan_report.h"
#include "train/report/progress.h"
#include "train/report/scaling.h"
#include "train/report/streams.h"
#include "train/report/sweep.h"
#include "train/session/best_score.h"
#include "train/session/device.h"
#include "train/session/fed_data.h"
#include "train/session/programs.h"
#include "train/values.h"

namespace lethe {
namespace {

/// What is asked of a plan.
struct PlanAsked {
  bool json = false, sweep = false, roofline = false, advise = false;
  std::string csv = {};
  std::int64_t most_ranks = 0;            // predicts from --ranks to so many; 0: does not
  std::optional<Exchange> exchange = {};  // of that; none: Pieces
  std::optional<Link> link = {};          // between ranks
};

Exchange exchange_named(const std::string& name) {
  return name == "ring" ? Exchange::Ring : name == "tree" ? Exchange::Tree : Exchange::Pieces;
}

/// "4", "1..1024".
void read_ranks(const std::string& text, std::int64_t& least, std::int64_t& most) {
  const auto number = [&](const std::string& part) {
    const std::string wrong = whole_number(1, kMostParts).complaint(part);
    check(wrong.empty(), "--ranks: ", quote(text),
          " is neither a number of ranks nor two of them such as 1..1024: ", wrong);
    return std::int64_t{std::stoll(part)};
  };
  const std::size_t dots = text.find("..");
  least = number(text.substr(0, dots));
  most = dots == std::string::npos ? 0 : number(text.substr(dots + 2));
  check(most == 0 || most > least, "--ranks ", text, ": ", most, " is not above ", least);
}

/// What the plan's own options mean to each other and to those of ranks.
void check_plan_options(const PlanAsked& asked, const Options& o) {
  const bool predicts = asked.most_ranks > 0;
  check(o.output.empty() || asked.sweep || predicts, "--out is of --sweep and of --ranks A..B: a plan has no picture");
  check(!predicts || (!asked.sweep && o.program.training && asked.csv.empty()),
        "--ranks A..B predicts training; it goes without --sweep, --eval and --csv");
  check(!predicts || !asked.advise, "--ranks A..B goes without --advise: that is about one setting");
  check(!predicts || !o.program.memory.levels.budget,
        "--ranks A..B goes without --memory-budget: it says what is taken");
  check(predicts || !asked.exchange, "--exchange is of --ranks A..B: a run exchanges in pieces");
  check(!asked.link || ((o.program.shards.rank.of > 1 || predicts) && !asked.sweep && o.program.training),
        "--network is of training on several ranks, between which it lies: it needs --ranks R or A..B, and goes "
        "without --sweep and --eval");
  check(!o.cheapest_zero || !asked.sweep, kZeroAuto);
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
  if (stage) text += message("; --zero ", stage->zero, " fits");
  const Advice* const least = report.least_change();
  return least && text.empty() ? message("; ", least->change, " fits") : text;
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
Scaling predicted_scaling(const PlanAsked& asked, const Options& options) {
  check(asked.link.has_value(), "--ranks A..B needs --network RATE,LATENCY: what links between ranks do");
  ProgramSetting setting = options.program;
  if (!options.given.contains("shards")) setting.shards.parts = setting.shards.rank.of;
  return scaling_of(setting, device_info(options.device), asked.most_ranks, *asked.link,
                    asked.exchange.value_or(Exchange::Pieces));
}

/// A data set of the command line, not the network's own, that would change nothing or cannot be read is refused.
void check_data(const Options& o) {
  if (!o.data.spec) return;
  const DataSpec spec(*o.data.spec);
  if (spec.kind != "jsonl" && spec.kind != "masks")
    spec.reject("changes nothing in a plan; jsonl:FILE and masks:IMAGES,MASKS do");
  if (spec.kind == "jsonl" && !takes_sequences(build_network(o.program.network, o.program.training)))
    spec.reject("gives texts as sequences of symbols, which the network does not take");
}

int plan(const PlanAsked& asked, const Options& given) {
  if (asked.roofline) return write_count(given, "--roofline", asked.json ? "json" : "text");
  Options options = decided(given);
  check_data(given);
  Shards& shards = options.program.shards;
  check((shards.zero == 0 && !options.cheapest_zero) || shards.rank.of > 1 || asked.most_ranks > 0,
        "--zero plans for one of several ranks; add --ranks R");
  if (counts_classes(options.course.best))
    best_of(options.course, build_network(options.program.network, options.program.training));
  if (options.cheapest_zero) shards.zero = cheapest_stage(options.program, device_info(options.device), asked.link);
  if (asked.sweep) {
    const MemorySweep sweep = sweep_of(options.program, device_info(options.device));
    if (!options.output.empty()) write_result(options.output, sweep_svg(sweep));
    write_result("", asked.json ? sweep_json(sweep) : sweep_text(sweep));
    return 0;
  }
  if (asked.most_ranks > 0) {
    const Scaling scaling = predicted_scaling(asked, options);
    if (!options.output.empty()) write_result(options.output, scaling_svg(scaling));
    write_result("", asked.json ? scaling_json(scaling) : scaling_text(scaling));
    return 0;
  }
  Progress progress(stderr, false);
  PlanReport report = report_plan(
      options.program, device_info(options.device), [&](const std::string& line) { progress.show(line); },
      asked.advise);
  progress.clear();
  report.link = asked.link;
  if (!asked.csv.empty()) write_result(asked.csv, plan_csv(report));
  for (const Planned* planned : {&report.plans.training, &report.plans.evaluation}) print_log(*planned);
  write_result("", asked.json ? plan_json(report) : plan_text(report));
  check_budget(report);
  return 0;
}

void add_predicted_ranks(OptionSet& set, Options& o, PlanAsked& asked) {
  set.in("Ranks");
  set.add_read(
      "--ranks",
      [&o, &asked](const std::string& text) { read_ranks(text, o.program.shards.rank.of, asked.most_ranks); }, "R|A..B",
      "Plans what each of so many ranks takes, and what it sends (default 1). A..B: instead predicts\n"
      "memory and time of a step on A, 2A.. B ranks, each with as much of a batch as on A");
  set.add_read(
         "--exchange", [&asked](const std::string& name) { asked.exchange = exchange_named(name); }, "HOW",
         "With --ranks A..B: how sums come to all ranks; in pieces, as they do in runs (default),\nround a ring or by "
         "a tree")
      ->check(one_of({"pieces", "ring", "tree"}));
  set.add_read(
      "--network", [&asked](const std::string& text) { asked.link = parse_link(text, "--network"); }, "RATE,LATENCY",
      "What a link between ranks moves in a second, and its latency, for the time that sending takes: 25Gb,10us");
}

Run declare_plan(OptionSet& set, Options& o) {
  const auto own = std::make_shared<PlanAsked>();
  add_network(set, o);
  add_batch(set, o, kBatchHelp, Largest::CanBeFound);
  add_micro_batch(set, o, Largest::CanBeFound);
  add_context(set, o);
  add_ranks(set, o);
  add_predicted_ranks(set, o, *own);
  add_optimizer(set, o);
  add_augment(set, o);
  set.in("Data");
  set.add("--data", o.data.spec, "SPEC",
          "What the run is to read, of which nothing is opened: with jsonl:FILE several texts stand in a window,\n"
          "with masks:..,ignore=N a label does not count");
  add_evaluation(set, o, "Plans evaluation instead of training");
  add_eval_every(set, o, "0: training alone; else evaluation between its steps too (default)")->excludes("--eval");
  add_best(set, o);
  add_machine(set, o);
  add_memopt(set, o, "level=2");
  add_print_log(set, o);
  add_budget(set, o);
  set.in("Output");
  set.add_flag("--json", own->json, "The figures as JSON");
  set.add_flag("--advise", own->advise,
               "Also says what training otherwise would take, the least change first: two passes, other optimizers,\n"
               "adapters, a part of the parameters (without it: where the setting does not fit)")
      ->excludes("--eval");
  set.add_flag("--sweep", own->sweep, "What level=3 takes at each price, instead of the plan of one setting")
      ->excludes("--eval")
      ->excludes("--memopt")
      ->excludes("--memory-budget")
      ->excludes("--overhead")
      ->excludes("--advise");
  set.add("--out", o.output, "FILE", "With --sweep or --ranks A..B: also writes the picture of that there, as SVG");
  set.add("--csv", own->csv, "FILE", "Writes what the arena packs, as train pack reads it (level=2)");
  set.add_flag("--roofline", own->roofline,
               "Instead: launches, operations and bytes of a step by op, and the least time they take on that GPU")
      ->excludes("--sweep")
      ->excludes("--advise")
      ->excludes("--csv");
  set.finally([&o, own] {
    o.facts.prices = own->sweep || own->most_ranks > 0;
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
