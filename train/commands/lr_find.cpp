// `train lr-find`: a few steps with a growing learning rate. Nothing is saved.
#include <cstdio>

#include "framework/error.h"
#include "train/option_groups.h"
#include "train/recipe.h"
#include "train/report/lr_report.h"
#include "train/report/memory_report.h"
#include "train/report/progress.h"
#include "train/report/streams.h"
#include "train/search/lr_sweep.h"
#include "train/session/fed_data.h"
#include "train/session/session.h"
#include "train/weights_recipe.h"

namespace lethe {
namespace {

struct RateRange {
  double min_lr = 1e-7, max_lr = 10;
};

LrSweep swept(const RateRange& range, const Options& options, Session& session) {
  const Programs& programs = session.programs();
  Executor& executor = session.executor();
  Batches& batches = session.batches();
  const FedInputs fed = fed_inputs(programs.network);
  LrSweep sweep;
  std::int64_t epoch = 0;
  batches.start(epoch);
  for (std::int64_t step = 0; step < *options.course.steps && !sweep.diverged(); ++step) {
    const Batch* batch = batches.next();
    if (!batch) {
      batches.start(++epoch);
      batch = batches.next();
    }
    const double rate = rate_of_sweep(step, *options.course.steps, range.min_lr, range.max_lr);
    const bool counts =  // else it has no loss
        fed.labels == kNone || counted(programs.network, batch->labels, batch->count * fed.rows) > 0;
    feed_next(executor, fed, batches, *batch);
    feed_rate(executor, programs, rate);
    executor.run();
    if (counts) sweep.add(rate, executor.fetch_scalar(programs.network.loss));
  }
  check_as(Exit::Numeric, !sweep.points().empty(), "the loss of the first step is no number");
  return sweep;
}

LrReport report_of(const RateRange& range, const Options& options, const Network& network) {
  return {.network = network.name,
          .dtype = std::string(name_of(options.program.network.dtype)),
          .optimizer = options.program.update.name,
          .batch = options.program.network.batch,
          .steps = *options.course.steps,
          .min_lr = range.min_lr,
          .max_lr = range.max_lr};
}

int lr_find(const RateRange& range, const Options& given) {
  const Options options = decided(given);
  const bool as_json = options.format == "json";
  Progress progress(stderr, Progress::Style::Plain, false);
  ProgramSetting program = options.program;
  program.evaluated = false;
  program.update.rates.lr = 0;  // it is what is swept
  const Notify notify = [&](const std::string& line) { progress.note(line); };
  Session session({std::move(program), data_beside_weights(options, notify), options.device}, notify);
  session.fill_from({}, options.checkpoints.weights);
  session.batches();
  const Plans& plans = session.plan();
  if (!as_json) print_predicted(options.program.memory.text, plans, progress);

  LrReport report = report_of(range, options, session.network());
  report.sweep = swept(range, options, session);
  report.predicted = plans.bytes.total();
  report.taken = session.device().peak();
  if (!options.output.empty()) write_result(options.output, lr_page(report));
  const std::string taken = taken_line(report.taken, report.predicted, plans.at_most);
  write_result("", as_json ? lr_json(report) : lr_text(report) + taken + "\n");
  return 0;
}

Run declare_lr_find(OptionSet& set, Options& o) {
  const auto range = std::make_shared<RateRange>();
  add_setup(set, o);
  add_augment(set, o);
  o.course.steps = 100;
  set.in("Sweep");
  set.add("--min-lr", range->min_lr, "X", "Learning rate of the first step (default 1e-7)")->check(positive_number());
  set.add("--max-lr", range->max_lr, "X", "Learning rate of the last step (default 10)")->check(positive_number());
  set.finally([range] {
    check(range->min_lr < range->max_lr, "--min-lr ", range->min_lr, " is not below --max-lr ", range->max_lr);
  });
  set.add("--steps", o.course.steps, "N", "Steps, each with a rate that is larger by the same factor (default 100)")
      ->check(whole_number(kFewestSweptSteps));
  add_update_rule(set, o);
  add_seed(set, o);
  add_weights(set, o);
  add_fresh(set, o);
  add_ignore(set, o);
  add_format(set, o, {"text", "json"});
  set.in("Output");
  set.add("--out", o.output, "FILE", "Also writes the picture there, a page for a browser: lr.html");
  return [range](const Options& options) { return lr_find(*range, options); };
}

const RegisterCommand lr_find_command{
    {.word = "lr-find",
     .help = "Sweeps the learning rate over a few steps and suggests one.",
     .examples = {{"train lr-find --model lenet --out lr.html", "a suggestion, and the sweep as a picture"}},
     .facts = {.runs = true},
     .declare = declare_lr_find}};

}  // namespace
}  // namespace lethe
