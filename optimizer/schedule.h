// Learning rates over a run, from one line of text:
//
//   constant
//   step@30ex0.1                  times 0.1 every 30 epochs
//   multistep@32000,48000x0.1     times 0.1 at each of these steps
//   exp@1ex0.95                   0.95^(t / 1 epoch), smoothly
//   poly, poly^0.9                (1 - t / run)^0.9; the power is 1 if none is given
//   cosine, cosine@90%x0.01       half a cosine from 1 down to 0 (to 0.01, over the first 90 % of the run)
//   one-cycle, one-cycle@30%      cosine up from 1/25 to 1 until 30 % of the run, cosine down to 4e-6 at its end
//
// followed by +warmup@TIME (or +warmup@TIMExF), which multiplies the rate by a ramp from 0 (from F) that reaches 1
// with the last step before TIME; poly and cosine begin there, at the whole rate, and end when they do without it, as
// transformers' schedules. With *warmup instead they begin with the run, and the ramp multiplies what has fallen
// already: so runs of older versions had it. one-cycle, which has a ramp of its own, takes no other but so. A TIME is
// in steps (32000), epochs (80e) or percent of the run (50%).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lethe {

/// How long a run is, in steps.
struct RunLength {
  std::int64_t total = 1, per_epoch = 1;
};

/// digits / 10^places of its unit, as it is written: 1.1 epochs of 100 steps are 110 steps, which no double of 1.1
/// gives.
struct ScheduleTime {
  enum Unit : std::uint8_t { Steps, Epochs, Percent } unit = Steps;
  std::int64_t digits = 0;
  int places = 0;
  bool operator==(const ScheduleTime&) const = default;
};

struct Schedule {
  enum Kind : std::uint8_t { Constant, Step, MultiStep, Exp, Poly, Cosine, OneCycle } kind = Constant;
  std::vector<ScheduleTime> times = {};  // periods, milestones, where the curve ends or peaks
  double factor = 0;                     // Step, MultiStep, Exp: times this; Cosine: where it ends
  double power = 1;                      // Poly
  ScheduleTime warmup = {};              // 0: none
  double warmup_from = 0;
  bool warmup_over_curve = false;  // *warmup
  bool operator==(const Schedule&) const = default;

  /// The rate of step `step` (the first is 0).
  double at(std::int64_t step, const RunLength& run, double base_rate) const;
};

/// Fails, quoting the right form, for an unknown name or a malformed text.
Schedule parse_schedule(const std::string& text);

}  // namespace lethe
