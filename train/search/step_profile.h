// Where the time of training steps goes.
#pragma once
#include <string>
#include <vector>

#include "train/session/session.h"

namespace lethe {

/// All ops of a type that one implementation runs, in a step.
struct ProfileRow {
  std::string op, implementation;
  double calls = 0, seconds = 0;
  double flops = 0;  // two a multiply-add; 0 where they are few for the bytes
  double bytes = 0;  // read and written, in every pass over the vars (Kernel::bytes_again)
};

/// Floating-point operations of a step, those in blocks once.
double flops_of(const Program& program);
/// How many a second the device does in a product of two matrices of `side` x `side`, in f32.
double product_flops(Device& device, std::int64_t side);
/// "a step will take about 95s here: ..." if it takes more than ten seconds at that rate; else "".
std::string slow_step_line(double flops, double flops_per_second);

struct StepProfile {
  double seconds = 0;                 // of a step, as it runs while it is watched
  std::vector<ProfileRow> rows = {};  // the longest first
  // What the device does at best: flops of a large product, bytes of a large copy; a second each.
  double peak_flops = 0, peak_bytes = 0;
};

/// Trains so many steps, of which the first `warm_up` do not count. Ops run one by one.
StepProfile profile_steps(Session& session, const RunSetting& run, std::int64_t warm_up);

}  // namespace lethe
