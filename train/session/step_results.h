// What a step of training has given, checked.
#pragma once
#include <cstdint>

#include "framework/run/readout.h"
#include "train/data/dataset.h"
#include "train/session/programs.h"
#include "train/session/run_setting.h"

namespace lethe {

class StepResults {
 public:
  /// All must outlive it.
  StepResults(const Executor& executor, const Programs& programs, const RunSetting& setting);
  /// Waits for step `number`, counted from 1, which had this learning rate. Fails with Exit::Numeric on a loss that is
  /// no number; where gradients in f16 overflowed `notify` hears that the step was skipped, or if no loss scale is
  /// small enough that fails, too.
  void fetch(std::int64_t number, double rate, const Notify& notify);
  double loss() const { return results_.scalar(programs_.network.loss); }
  /// How many labels were the likeliest; 0 where no loss takes any.
  std::int64_t correct() const;
  /// Fails so, naming remedies, for a loss that is no number.
  void check_loss(double loss, const char* whose, std::int64_t number, double rate) const;

 private:
  void note_overflow(const LossScaleState& state, std::int64_t number, const Notify& notify);

  const Programs& programs_;
  const RunSetting& setting_;
  Readout results_;
  std::int64_t skipped_;  // steps since the run began
};

}  // namespace lethe
