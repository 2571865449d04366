// The training loop.
#pragma once
#include <chrono>
#include <vector>

#include "framework/run/executor.h"
#include "train/data/batches.h"
#include "train/session/agreement.h"
#include "train/session/checkpoint.h"
#include "train/session/evaluator.h"
#include "train/session/fed_data.h"
#include "train/session/listener.h"
#include "train/session/metered_device.h"
#include "train/session/programs.h"
#include "train/session/step_results.h"

namespace lethe {

/// A run works on these, all of which outlive the trainer.
struct TrainerParts {
  const RunSetting& setting;
  const Programs& programs;
  Executor& executor;
  Batches& batches;
  Evaluator* evaluator = nullptr;  // null: never evaluated
  const Store& store;
  Checkpoints* checkpoints = nullptr;  // null: never saved
  const MeteredDevice& device;
  Listener& listener;
  bool moves = false;  // into another directory than the one it is resumed from
};

class Trainer {
 public:
  /// Begins where `state` stands.
  Trainer(const TrainerParts& parts, RunState state);
  /// Runs to the end, or until the listener asks to stop, which is no failure. Fails with Exit::Numeric on a loss that
  /// is no number, and with Exit::Data on data and records that fail it, of one process after a save; but not of a step
  /// whose evaluation has yet to be made.
  void run();
  /// Where the run stands, and the last record of training.
  const RunState& state() const { return state_; }
  const Record& last() const { return last_; }

 private:
  using Clock = std::chrono::steady_clock;
  /// Sums since the last record.
  struct Sums {
    std::int64_t steps = 0, labels = 0, correct = 0;
    double loss = 0, weight = 0;  // of the losses, each times its weight, and of the weights
    Clock::time_point begin = Clock::now();
    double mean_loss() const { return weight > 0 ? loss / weight : 0; }  // 0 if there is none
  };

  void run_steps();
  void begin_epoch();
  void try_step();  // an error of the device, or of another rank, says in which step
  void step();
  /// Hears what the listener asks for, and what other ranks say; gives what all say.
  StepTotals listen(StepTotals own);
  void feed_next();  // takes the next batch and hands it to the next step
  void feed_ahead();
  bool record_due() const;
  void record();
  bool evaluates_after(std::int64_t step) const;  // from 1
  /// Whether it is the best so far. It counts before anybody hears of it, who may fail.
  bool evaluate();
  void save(bool best);
  void finish();

  void leave_out(Clock::time_point since);  // out of the times of steps
  bool due(const Interval& interval, std::int64_t step) const;
  /// The epoch of the step done last, from 1.
  std::int64_t epoch() const { return (state_.step - 1) / length_.per_epoch + 1; }
  double rate_at(std::int64_t step) const;
  Moment moment() const;

  TrainerParts parts_;
  RunState state_;
  RunLength length_;
  FedInputs fed_;
  Best best_;  // is the evaluation by this
  StepResults results_;
  const Batch* batch_ = nullptr;  // of the next step, if it is fed already
  Sums sums_;
  bool stop_ = false, save_ = false;  // the listener of a rank has asked for it
  Record last_ = {};                  // of training
  Clock::time_point epoch_begin_ = Clock::now();
  std::int64_t epoch_begin_step_ = 0;
  std::int64_t stopped_loops_ = 0;                 // in this run
  std::int64_t saved_step_, evaluated_step_ = -1;  // -1: not yet
};

}  // namespace lethe
