// What a run tells while it trains, and asks.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace lethe {

struct Scores;

/// Measurements up to a step: means since the last record of training, or an evaluation over all samples.
struct Record {
  std::int64_t step = 0;        // done since the beginning, over resumes
  std::int64_t epoch = 0;       // from 1
  std::string split = "train";  // "train" or "eval"
  double loss = 0;
  std::optional<double> accuracy = {};
  double lr = 0;
  double ms = 0;                      // per step
  std::int64_t mem_peak = 0;          // most bytes taken from the device so far
  std::optional<bool> recorded = {};  // on a GPU: steps are replayed from a recording, not run launch by launch
};

/// One moment of an epoch.
struct Moment {
  std::int64_t epoch = 1, epochs = 1;  // from 1
  std::int64_t step = 0, steps = 1;    // done in this epoch, and in all of it
  double seconds = 0;                  // since the epoch, or this run in it, began
  double seconds_left = 0;             // to the epoch's end
  double ms_per_step = 0;
  double loss = 0;
  std::optional<double> accuracy = {};
};

/// Whoever listens to a run. Nothing need be overridden; a run without an ear is silent.
class Listener {
 public:
  virtual ~Listener() = default;
  /// A line for the user.
  virtual void note(const std::string& /*line*/) {}
  /// After each step.
  virtual void step(const Moment& /*now*/) {}
  /// After each record of training.
  virtual void mark(const Moment& /*now*/) {}
  virtual void record(const Record& /*measured*/) {}
  virtual void evaluated(std::int64_t /*step*/, std::int64_t /*epoch*/, const Scores& /*scores*/) {}
  /// Whether the run shall end after this step.
  virtual bool stop_wanted() { return false; }
  /// Whether a checkpoint was asked for since the last call.
  virtual bool take_save_wanted() { return false; }
};

}  // namespace lethe
