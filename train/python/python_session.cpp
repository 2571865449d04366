#include "train/python/python_session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "framework/error.h"
#include "train/introduction.h"
#include "train/ranks/mpi.h"
#include "train/recipe.h"
#include "train/report/memory_report.h"
#include "train/report/option_names.h"
#include "train/report/progress.h"
#include "train/session/device.h"
#include "train/weights_recipe.h"

namespace lethe {
namespace {

std::unique_ptr<RunLock> lock_of_resumed(const CheckpointOptions& asked) {
  const std::string run = goes_on_in(asked.save, asked.resume);
  return run.empty() ? nullptr : std::make_unique<RunLock>(run);
}

/// Hands records on to files, too.
class RecordedListener final : public Listener {
 public:
  RecordedListener(Listener& listener, const std::vector<std::unique_ptr<RecordFile>>& files,
                   PythonSession::Standing& standing)
      : listener_(listener), files_(files), standing_(standing) {}
  void note(const std::string& line) override { say(line); }
  bool stop_wanted() override { return listener_.stop_wanted(); }
  void record(const Record& measured) override {
    standing_.step = measured.step;
    standing_.peak = measured.mem_peak;
    for (const auto& file : files_) file->append(measured);
    listener_.record(measured);
  }

 private:
  Listener& listener_;
  const std::vector<std::unique_ptr<RecordFile>>& files_;
  PythonSession::Standing& standing_;
};

bool has_epochs(const Schedule& schedule) {
  const auto is_epochs = [](const ScheduleTime& time) { return time.unit == ScheduleTime::Epochs; };
  return std::ranges::any_of(schedule.times, is_epochs) || is_epochs(schedule.warmup);
}

}  // namespace

/// A network for evaluation that keeps what it predicts, and what runs it: in the arena, so it is kept.
struct PythonSession::Predictions {
  Network network;
  Planned planned;
  std::unique_ptr<Executor> executor;
};

PythonSession::PythonSession(std::vector<std::string> arguments, const std::optional<NetworkFile>& network)
    : given_(session_options(arguments, network, files_)),
      lock_(lock_of_resumed(given_.checkpoints)),
      start_(find_start(given_.checkpoints.save, given_.checkpoints.resume)),
      has_data_(false) {  // until it is known below
  check(!number_by_mpi(), "mpirun is for `train`; a Python session is one process");
  options_ = decided(given_, options_in(start_.checkpoint, start_.state));
  check(options_.program.shards.zero == 0 && !options_.cheapest_zero,
        "--zero: one process has nobody to share with; train in several by mpirun -n R train ...");
  id_ = network_id(options_.program.network);
  has_data_ = options_.data.spec.has_value();
  DataSetting data = options_.data;
  if (has_data_) data = data_beside_weights(options_, say);
  if (!start_.checkpoint.empty()) data.known = start_.state.meaning;
  if (!has_data_) data.samples = no_samples(build_network(options_.program.network, true), data.known);
  session_ = std::make_unique<Session>(SessionSetting{options_.program, data, options_.device, {}}, say);
  check_fits(start_, values_to_keep(options_), session_->network().name, id_);
  note_standing();
}

void PythonSession::note_standing() {
  standing_.step = step();
  if (begun_) standing_.peak = session_->device().peak();
}

std::vector<std::string> PythonSession::keeps() const {
  std::vector<std::string> all;
  if (!start_.save.empty()) all.push_back(given_.checkpoints.save.empty() ? "resume" : "save");
  if (!files_.metrics.empty()) all.push_back("metrics");
  if (!files_.log_json.empty()) all.push_back("log_json");
  if (!files_.tensorboard.empty()) all.push_back("tensorboard");
  return all;
}

/// Before memory is taken: what the run starts from.
void PythonSession::begin() {
  if (begun_) return;
  session_->fill_from(start_, options_.checkpoints.weights);
  session_->state() = state_of(start_, options_, network(), id_, session_->data().name(), meaning());
  const Plans& plans = session_->plan();
  for (const Planned* planned : {&plans.training, &plans.evaluation})
    for (const std::string& note : planned->notes) say(note);
  say(setting_line(options_.program.memory.text, plans.none, plans.bytes.total()));
  say(predicted_line(plans.bytes, plans.at_most));
  session_->executor();
  begun_ = true;
}

Meaning PythonSession::meaning() { return session_->data().meaning(); }

double PythonSession::rate_of_step() {
  const RunSetting& course = options_.course;
  if (course.schedule == Schedule{}) return course.lr;
  const bool has_length = course.steps && (has_data_ || !has_epochs(course.schedule));
  if (!has_length) {
    check(!given_.given.contains("schedule"), "`schedule` ", course.schedule_text,
          " needs a run: `steps` of the session, and data where it counts epochs; or the rate of each step, lr=");
    if (!std::exchange(said_rate_, true))
      say(message("note: single steps have a rate of ", course.lr, ": ", course.schedule_text,
                  ", as the network's file has it, needs a run of so many `steps`"));
    return course.lr;
  }
  const std::int64_t per_epoch = has_data_ ? session_->batches().per_epoch() : *course.steps;
  return course.schedule.at(step(), length_of(course, per_epoch), course.lr);
}

Record PythonSession::train_step(ArrayRows& batch, std::optional<double> rate) {
  begin();
  const Programs& programs = session_->programs();
  check(fed_inputs(network()).shares == kNone,
        "`augment` mixes samples of a data set; a single step takes them as they are");
  if (!rate) rate = rate_of_step();
  const auto before = std::chrono::steady_clock::now();
  Executor& executor = session_->executor();
  if (!results_) results_.emplace(executor, programs, options_.course);  // which counts skipped steps
  batch.feed(executor);
  feed_rate(executor, programs, *rate);
  executor.run();
  results_->fetch(step() + 1, *rate, say);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - before;
  const std::int64_t labels = batch.counted_labels();
  ++session_->state().step;
  return {.step = step(),
          .loss = results_->loss(),
          .accuracy =
              programs.network.correct == kNone ? std::nullopt : std::optional(share_of(results_->correct(), labels)),
          .lr = *rate,
          .ms = taken.count(),
          .mem_peak = session_->device().peak(),
          .recorded = executor.replays()};
}

Record PythonSession::train(std::shared_ptr<const Samples> data, std::optional<std::int64_t> epochs,
                            std::optional<std::int64_t> steps, Listener& listener) {
  if (data) {
    session_->learn_from(std::move(data));
    has_data_ = true;
  }
  check(has_data_, "there is no data to train on: train(data), or `data` of the session, such as shapes");
  begin();
  RunSetting course = options_.course;
  if (epochs) course.epochs = *epochs, course.steps.reset();
  if (steps) course.steps = *steps;
  const Batches& batches = session_->batches();
  check(step() < length_of(course, batches.per_epoch()).total, "the run is complete at step ", step(),
        "; more `epochs` or `steps` of the whole run go on with it");
  Options as_it_runs = options_;
  as_it_runs.course = course;
  Progress progress(stderr, false);
  introduce(progress, as_it_runs, network(), batches, meaning().classes, start_);
  const std::unique_ptr<Checkpoints> checkpoints = open_checkpoints(options_, start_, true);
  if (!lock_) lock_ = lock_run(given_, start_);
  if (lock_ && !lock_->trouble().empty()) say(lock_->trouble());
  if (records_.empty()) records_ = open_records(files_, start_, say);
  RecordedListener recorded(listener, records_, standing_);
  results_.reset();
  return session_->train(course, recorded, checkpoints.get());
}

Scores PythonSession::evaluate(const std::shared_ptr<const Samples>& data) {
  check(data || has_data_, "there is no data to evaluate on: evaluate(data), or `data` of the session");
  begin();
  if (data) return session_->scores_of(*data);
  check(evaluates(), "`eval_every` 0 says that the network is never evaluated");
  return session_->evaluator()->run();
}

WeightArray PythonSession::predict(ArraysByName arrays) {
  begin();
  if (!predictions_) {
    NetworkSetting setting = options_.program.network;
    setting.batch = session_->programs().evaluation.program.vars[fed_inputs(network()).samples].shape[0];
    setting.logits = true;
    MemorySetting memory = options_.program.memory.guest ? memory_setting("level=2") : options_.program.memory;
    memory.levels.pins.skip_vars.clear();
    memory.keeps_prediction = true;
    predictions_ = std::make_shared<Predictions>();
    predictions_->network = build_network(setting, false);
    if (is_gpu(options_.device)) take_bytes(predictions_->network, session_->data().pixels());
    predictions_->planned = plan_evaluation(predictions_->network, memory, session_->prepared());
  }
  Predictions& by = *predictions_;
  if (!by.executor) by.executor = session_->executor_of(by.planned);
  ArrayRows rows(std::move(arrays), by.network, {}, true);
  const Var& var = by.network.program.vars[by.network.prediction];
  const std::int64_t batch = by.network.program.vars[fed_inputs(by.network).samples].shape[0];
  const std::int64_t each = bytes_of(var) / batch;
  WeightArray all{.name = var.name, .dtype = var.dtype, .shape = {rows.size()}, .values = {}};
  std::vector<std::byte> values(static_cast<std::size_t>(bytes_of(var)));
  for (std::int64_t begin = 0; begin < rows.size(); begin += batch) {
    const std::int64_t count = std::min(batch, rows.size() - begin);
    rows.feed(*by.executor, begin, count);
    by.executor->run();
    by.executor->fetch(by.network.prediction, values.data(), std::ssize(values));
    all.values.insert(all.values.end(), values.begin(), values.begin() + count * each);
  }
  if (session_->device().taken() > session_->plan().bytes.total()) by.executor.reset();  // memory beyond the plan
  return as_in_files(std::move(all), by.network, by.network.prediction, batch);
}

}  // namespace lethe
