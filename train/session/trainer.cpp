#include "train/session/trainer.h"

#include <utility>

#include "framework/error.h"
#include "train/session/best_score.h"

namespace lethe {
namespace {

constexpr double kRecordSeconds = 1;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// None where no loss takes labels.
std::optional<double> accuracy_of(const FedInputs& fed, std::int64_t correct, std::int64_t labels) {
  return fed.labels == kNone ? std::nullopt : std::optional(share_of(correct, labels));
}

bool is_out_of_patience(const RunSetting& setting, const RunState& state) {
  return setting.patience > 0 && state.evaluations_since_best >= setting.patience;
}

}  // namespace

Trainer::Trainer(const TrainerParts& parts, RunState state)
    : parts_(parts),
      state_(std::move(state)),
      length_(length_of(parts.setting, parts.batches.per_epoch())),
      fed_(fed_inputs(parts.programs.network)),
      best_(best_of(parts.setting, parts.programs.network)),
      results_(parts.executor, parts.programs, parts.setting),
      saved_step_(state_.step > 0 && !parts.moves ? state_.step : -1) {}

void Trainer::run() {
  try {
    run_steps();
  } catch (const Error& error) {
    const Peers* const peers = parts_.executor.device().peers();
    const bool alone = !peers || peers->rank().of == 1;  // the others of several ranks do not come to save
    // A run that goes on after a step would leave out its evaluation.
    const bool complete = state_.step > 0 && (!evaluates_after(state_.step) || evaluated_step_ == state_.step);
    try {
      if (error.code == Exit::Data && alone && complete) save(state_.best_step == state_.step);
    } catch (const Error&) {
      // The failure at hand is what counts.
    }
    throw;
  }
}

void Trainer::run_steps() {
  if (state_.step >= length_.total) {
    parts_.listener.note(
        message("the run is complete at step ", state_.step, "; more `epochs` or `steps` go on with it"));
    save(evaluate());
  }
  begin_epoch();
  listen({});
  while (state_.step < length_.total && !stop_ && !is_out_of_patience(parts_.setting, state_)) {
    try_step();
    const bool last = state_.step == length_.total;
    const bool evaluates = evaluates_after(state_.step), best = evaluates && evaluate();
    if (evaluates) listen({});
    const bool asked = std::exchange(save_, false);
    if (best || last || asked || due(parts_.setting.save_every, state_.step)) save(best);
    if (state_.step % length_.per_epoch == 0 && state_.step < length_.total) begin_epoch();
  }
  finish();
}

void Trainer::begin_epoch() {
  parts_.batches.start(state_.step / length_.per_epoch, state_.step % length_.per_epoch);
  epoch_begin_ = Clock::now();
  epoch_begin_step_ = state_.step;
}

void Trainer::try_step() {
  const std::int64_t number = state_.step + 1;
  try {
    step();
  } catch (const Error& error) {
    if (error.code != Exit::Device) throw;
    throw Error(message("step ", number, ": ", error.what()), error.code);
  }
}

void Trainer::step() {
  const Programs& programs = parts_.programs;
  Executor& executor = parts_.executor;
  if (!batch_) feed_next();
  const std::int64_t labels =
      fed_.labels == kNone ? 0 : counted(programs.network, batch_->labels, batch_->count * fed_.rows);
  feed_rate(executor, programs, rate_at(state_.step));
  executor.run();
  batch_ = nullptr;
  const std::int64_t done = state_.step + 1;
  const bool goes_on = done < length_.total && done % length_.per_epoch != 0 && !evaluates_after(done);
  if (goes_on) feed_ahead();
  stopped_loops_ += executor.stopped_loops();
  results_.fetch(done, rate_at(state_.step), [&](const std::string& line) { parts_.listener.note(line); });
  const double loss = results_.loss();
  ++state_.step;
  ++sums_.steps;
  const StepTotals all = listen({.labels = labels, .correct = results_.correct()});
  const double weight = programs.network.ignored ? static_cast<double>(all.labels) : 1;  // else each step has as many
  sums_.loss += weight * loss;
  sums_.weight += weight;
  if (record_due()) record();
  parts_.listener.step(moment());
}

void Trainer::feed_next() {
  batch_ = parts_.batches.next();
  lethe::feed_next(parts_.executor, fed_, parts_.batches, *batch_);
}

/// While the device still runs this step, which counts whatever becomes of the next: that meets the error again.
void Trainer::feed_ahead() {
  try {
    feed_next();
  } catch (const Error&) {
    batch_ = nullptr;
  }
}

StepTotals Trainer::listen(StepTotals own) {
  own.stop = parts_.listener.stop_wanted() ? 1 : 0;
  own.save = parts_.listener.take_save_wanted() ? 1 : 0;
  const StepTotals all = totals_of_ranks(parts_.executor.device().peers(), own);
  sums_.labels += all.labels;
  sums_.correct += all.correct;
  stop_ = stop_ || all.stop > 0;
  save_ = save_ || all.save > 0;
  return all;
}

bool Trainer::record_due() const {
  const int every = parts_.setting.log_every;
  const bool last = state_.step == length_.total || state_.step % length_.per_epoch == 0;
  return last || (every > 0 ? state_.step % every == 0 : seconds_since(sums_.begin) >= kRecordSeconds);
}

void Trainer::record() {
  last_ = {.step = state_.step,
           .epoch = epoch(),
           .split = "train",
           .loss = sums_.mean_loss(),
           .accuracy = accuracy_of(fed_, sums_.correct, sums_.labels),
           .lr = rate_at(state_.step - 1),
           .ms = seconds_since(sums_.begin) * 1000 / static_cast<double>(sums_.steps),
           .mem_peak = parts_.device.peak(),
           .recorded = parts_.executor.replays()};
  parts_.listener.record(last_);
  sums_ = Sums{};
  parts_.listener.mark(moment());
}

void Trainer::leave_out(Clock::time_point since) {
  const Clock::duration spent = Clock::now() - since;
  sums_.begin += spent;
  epoch_begin_ += spent;
}

bool Trainer::evaluates_after(std::int64_t step) const {
  return parts_.evaluator && (step == length_.total || due(parts_.setting.eval_every, step));
}

bool Trainer::evaluate() {
  if (!parts_.evaluator || evaluated_step_ == state_.step) return false;
  const Clock::time_point begin = Clock::now();
  const Scores scores = scores_by(best_, *parts_.evaluator, parts_.programs.evaluation);
  leave_out(begin);
  evaluated_step_ = state_.step;
  results_.check_loss(scores.loss, "the loss of the evaluation", state_.step, rate_at(state_.step - 1));
  const bool best = note_scores(best_, scores, state_);
  parts_.listener.evaluated(state_.step, epoch(), scores);
  if (saved_step_ != state_.step)  // else a complete run is resumed where it saved, and its records end with this one
    parts_.listener.record({.step = state_.step,
                            .epoch = epoch(),
                            .split = "eval",
                            .loss = scores.loss,
                            .accuracy = accuracy_of(fed_, scores.correct, scores.samples),
                            .lr = rate_at(state_.step - 1),
                            .ms = scores.ms,
                            .mem_peak = parts_.device.peak()});
  return best;
}

void Trainer::save(bool best) {
  if (!parts_.checkpoints || saved_step_ == state_.step) return;
  const Clock::time_point begin = Clock::now();
  state_.epoch = state_.step / length_.per_epoch;
  state_.batch_in_epoch = state_.step % length_.per_epoch;
  saved_step_ = state_.step;  // before the save: one that fails ends the run, which does not try again
  parts_.checkpoints->save(state_, parts_.store, parts_.programs.network, best);
  leave_out(begin);
}

void Trainer::finish() {
  if (stopped_loops_ > 0)
    parts_.listener.note(message("loops were stopped at their max ", stopped_loops_,
                                 stopped_loops_ == 1 ? " time" : " times", " while their condition still held"));
  if (state_.step >= length_.total) return;
  save(false);
  const std::string why = is_out_of_patience(parts_.setting, state_)
                              ? message(": ", state_.evaluations_since_best, " evaluations brought no ",
                                        better_than(best_, state_.best_score), " at step ", state_.best_step,
                                        parts_.checkpoints ? "; resumed with `patience` 0 it goes on" : "")
                              : "";
  parts_.listener.note(message("stopped after step ", state_.step, " of ", length_.total,
                               parts_.checkpoints ? ", saved" : ", not saved: there is no `save` DIR", why));
}

bool Trainer::due(const Interval& interval, std::int64_t step) const {
  if (interval.count == 0) return false;
  if (!interval.epochs) return step % interval.count == 0;
  return step % length_.per_epoch == 0 && step / length_.per_epoch % interval.count == 0;
}

double Trainer::rate_at(std::int64_t step) const {
  return parts_.setting.schedule.at(step, length_, parts_.setting.lr);
}

Moment Trainer::moment() const {
  Moment now{.ms_per_step = last_.ms, .loss = last_.loss, .accuracy = last_.accuracy};
  const std::int64_t first = (epoch() - 1) * length_.per_epoch;
  now.epoch = epoch();
  now.epochs = (length_.total - 1) / length_.per_epoch + 1;
  now.step = state_.step - first;
  now.steps = std::min(length_.per_epoch, length_.total - first);
  now.seconds = seconds_since(epoch_begin_);
  const double each = now.seconds / static_cast<double>(state_.step - epoch_begin_step_);
  now.seconds_left = each * static_cast<double>(now.steps - now.step);
  if (now.ms_per_step == 0) {  // no record yet
    now.ms_per_step = each * 1000;
    now.loss = sums_.mean_loss();
    now.accuracy = accuracy_of(fed_, sums_.correct, sums_.labels);
  }
  return now;
}

}  // namespace lethe
