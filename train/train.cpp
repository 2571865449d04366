// `train`: from a network file to trained weights. Read me first.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "framework/error.h"
#include "train/commands.h"
#include "train/device.h"
#include "train/predicted.h"
#include "train/recipe.h"
#include "train/report/memory_report.h"
#include "train/report/metrics.h"
#include "train/report/tensorboard.h"
#include "train/session/run_lock.h"
#include "train/start.h"
#include "train/trainer.h"

namespace lethe {
namespace {

BatchOptions batches_of(const Options& options) {
  return training_batches(*options.batch, options.dtype, augmentation_of(*options.augment), *options.seed);
}

std::vector<std::unique_ptr<RecordFile>> open_metrics(const Options& options, const Start& start,
                                                      const Notify& notify) {
  std::optional<std::int64_t> resumed_at;
  if (!start.checkpoint.empty()) resumed_at = start.state.step;
  std::string csv = options.metrics;
  if (csv.empty() && !start.save.empty()) csv = (std::filesystem::path(start.save) / "metrics.csv").string();
  using Form = MetricsFile::Form;
  std::vector<std::unique_ptr<RecordFile>> files;
  if (!csv.empty()) files.push_back(std::make_unique<MetricsFile>(csv, Form::Csv, resumed_at, notify));
  if (!options.log_json.empty())
    files.push_back(std::make_unique<MetricsFile>(options.log_json, Form::Json, resumed_at, notify));
  if (!options.tensorboard.empty()) files.push_back(std::make_unique<EventFile>(options.tensorboard, resumed_at));
  return files;
}

RunState state_of(const Start& start, const Options& options, const Network& network, const Samples& data) {
  RunState state = start.state;
  state.network = network.name;
  state.program = program_id(network.program);
  state.seed = *options.seed;
  state.batch = *options.batch;
  state.learning_rate = *options.lr;
  state.schedule = *options.schedule;
  state.optimizer = *options.optimizer;
  state.data = options.data.value_or(data.name());
  if (const auto* images = dynamic_cast<const Dataset*>(&data)) {
    state.classes = images->info().classes;
    state.mean = images->info().mean;
    state.deviation = images->info().deviation;
  }
  state.options = values_to_keep(options);
  return state;
}

/// A resumed run counts its steps in the same epochs.
void check_position(const Start& start, std::int64_t per_epoch) {
  const RunState& state = start.state;
  const bool same_epochs =
      state.step >= 0 && state.epoch == state.step / per_epoch && state.batch_in_epoch == state.step % per_epoch;
  check_as(Exit::Data, same_epochs, start.checkpoint, ": step ", state.step, " is batch ", state.batch_in_epoch,
           " of epoch ", state.epoch, " there, but the data has ", per_epoch,
           " batches an epoch; is it the same data?");
}

void introduce(Progress& progress, const Options& options, const Network& network, const Batches& batches,
               const Start& start) {
  const RunLength length = length_of(options, batches.per_epoch());
  progress.note(message(network.name, ": batch ", *options.batch, ", ", length.total, " steps, ", batches.per_epoch(),
                        " an epoch; ", *options.optimizer, ", learning rate ", *options.lr, ", ", *options.schedule,
                        ", seed ", *options.seed));
  if (batches.dropped() > 0)
    progress.note(message("each epoch leaves out ", batches.dropped(), " samples, less than a batch"));
  if (start.checkpoint.empty()) return;
  check_position(start, batches.per_epoch());
  progress.note(message("resumed from ", start.checkpoint));
  if (start.save.empty())
    progress.note("one checkpoint was named, so nothing will be saved; --save DIR names where to");
}

Notify note_in(Progress& progress) {
  return [&progress](const std::string& line) { progress.note(line); };
}

std::unique_ptr<Checkpoints> open_checkpoints(const Options& options, const Start& start) {
  return start.save.empty() ? nullptr : std::make_unique<Checkpoints>(start.save, options.keep);
}

/// Of the directory where the run saves. No other run may have saved there since `start` was found.
std::unique_ptr<RunLock> lock_run(const Options& given, const Start& start, const Notify& notify) {
  if (start.save.empty()) return nullptr;
  auto lock = std::make_unique<RunLock>(start.save, notify);
  const Start now = find_start(given);
  check(start.moves || (now.checkpoint == start.checkpoint && now.state == start.state), start.save,
        ": another run has saved into it meanwhile; start again");
  return lock;
}

std::unique_ptr<Evaluator> make_evaluator(const Options& options, const Programs& programs, const Plans& plans,
                                          Prepared& prepared, Store& store, const Samples& data, Buffer* arena) {
  if (!is_evaluated(options)) return nullptr;
  return std::make_unique<Evaluator>(options, programs.evaluation, plans.evaluation, prepared, store, data, arena);
}

}  // namespace

int train(const Options& given) {
  const Start start = find_start(given);
  const Options options = decided(given, start.state.options);
  Progress progress(stderr, options.quiet);

  const Programs programs = build_programs(options);  // training with its backward and update ops; evaluation
  check_fits(start, options, programs.network);
  const std::unique_ptr<Samples> data = open_data(options, programs.network, note_in(progress));
  MeteredDevice device(open_device(options));
  Batches batches(*data, batches_of(options), device);
  introduce(progress, options, programs.network, batches, start);

  Prepared prepared(device);  // every kernel chosen, every workspace known
  const Plans plans = plan_programs(programs, is_evaluated(options), options, prepared);
  print_predicted(options, plans, progress);
  const std::unique_ptr<Checkpoints> checkpoints = open_checkpoints(options, start);
  const std::unique_ptr<RunLock> lock = lock_run(given, start, note_in(progress));
  const std::vector<std::unique_ptr<RecordFile>> metrics = open_metrics(options, start, note_in(progress));

  device.reserve(reserved_bytes({&plans.training, &plans.evaluation}, plans.arena, device.info().alignment));
  Store store(device);  // parameters and states of both programs
  Buffer arena = with_context("the arena", [&] { return Buffer(device, plans.arena); });
  Buffer* const shared = plans.arena > 0 ? &arena : nullptr;
  Executor executor(plans.training.program, plans.training.plan, prepared, store, shared);
  const std::unique_ptr<Evaluator> evaluator = make_evaluator(options, programs, plans, prepared, store, *data, shared);
  fill_store(start, options, programs.network, store);

  Trainer trainer({.options = options,
                   .programs = programs,
                   .executor = executor,
                   .batches = batches,
                   .evaluator = evaluator.get(),
                   .store = store,
                   .checkpoints = checkpoints.get(),
                   .device = device,
                   .progress = progress,
                   .metrics = metrics,
                   .moves = start.moves},
                  state_of(start, options, programs.network, *data));
  trainer.run();
  std::printf("%s\n", taken_line(device.peak(), plans.bytes.total(), plans.at_most).c_str());
  return 0;
}

}  // namespace lethe
