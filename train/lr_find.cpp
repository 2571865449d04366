// `train lr-find`: a few steps with a growing learning rate. Nothing is saved.
#include <cstdio>

#include "framework/error.h"
#include "train/commands.h"
#include "train/data/batches.h"
#include "train/device.h"
#include "train/predicted.h"
#include "train/recipe.h"
#include "train/report/lr_report.h"
#include "train/report/memory_report.h"
#include "train/report/streams.h"
#include "train/session/metered_device.h"
#include "train/start.h"

namespace lethe {
namespace {

LrSweep swept(const Options& options, const Programs& programs, Executor& executor, Batches& batches) {
  const FedInputs fed = fed_inputs(programs.network);
  LrSweep sweep;
  std::int64_t epoch = 0;
  batches.start(epoch);
  for (std::int64_t step = 0; step < *options.steps && !sweep.diverged(); ++step) {
    const Batch* batch = batches.next();
    if (!batch) {
      batches.start(++epoch);
      batch = batches.next();
    }
    const double rate = rate_of_sweep(step, *options.steps, options.min_lr, options.max_lr);
    executor.feed_next(fed.samples, batch->samples, batches.sample_bytes());
    executor.feed_next(fed.labels, batch->labels, batches.label_bytes());
    feed_rate(executor, programs, rate);
    executor.run();
    sweep.add(rate, executor.fetch_scalar(programs.network.loss));
  }
  check_as(Exit::Numeric, !sweep.points().empty(), "the loss of the first step is no number");
  return sweep;
}

LrReport report_of(const Options& options, const Network& network) {
  return {.network = network.name,
          .dtype = std::string(name_of(options.dtype)),
          .optimizer = *options.optimizer,
          .batch = *options.batch,
          .steps = *options.steps,
          .min_lr = options.min_lr,
          .max_lr = options.max_lr};
}

}  // namespace

int lr_find(const Options& given) {
  const Options options = decided(given);
  const bool as_json = options.format == "json";
  Progress progress(stderr, Progress::Style::Plain, false);
  const Programs programs = build_programs(options);
  const std::unique_ptr<Samples> data =
      open_data(options, programs.network, [&](const std::string& line) { progress.note(line); });
  MeteredDevice device(open_device(options));
  Batches batches(
      *data, training_batches(*options.batch, options.dtype, augmentation_of(*options.augment), *options.seed), device);
  Prepared prepared(device);
  const Plans plans = plan_programs(programs, false, options, prepared);
  if (!as_json) print_predicted(options, plans, progress);
  device.reserve(reserved_bytes({&plans.training}, plans.arena, device.info().alignment));
  Store store(device);
  Buffer arena(device, plans.arena);
  Executor executor(plans.training.program, plans.training.plan, prepared, store, plans.arena > 0 ? &arena : nullptr);
  fill_store({}, options, programs.network, store);

  LrReport report = report_of(options, programs.network);
  report.sweep = swept(options, programs, executor, batches);
  report.predicted = plans.bytes.total();
  report.taken = device.peak();
  if (!options.output.empty()) write_result(options.output, lr_page(report));
  const std::string taken = taken_line(report.taken, report.predicted, plans.at_most);
  write_result("", as_json ? lr_json(report) : lr_text(report) + taken + "\n");
  return 0;
}

}  // namespace lethe
