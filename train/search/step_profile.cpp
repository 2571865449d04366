#include "train/search/step_profile.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/timed.h"
#include "train/search/kernel_costs.h"

namespace lethe {
namespace {

/// Watches ops as their kernels run.
class Watch final : public Observer {
 public:
  Watch(const Program& program, Prepared& prepared, Device& device)
      : program_(program), prepared_(prepared), device_(device) {}

  void before(const Op&, const KernelArgs&) override {
    device_.synchronize();
    begin_ = Clock::now();
  }
  void after(const Op& op, const KernelArgs&) override {
    device_.synchronize();
    const double seconds = 1e-3 * ms_since(begin_);
    ProfileRow& each = each_[&op];
    if (each.op.empty()) each = described(op);
    ++each.calls;
    each.seconds += seconds;
  }

  /// Forgets the times of what has run so far; what the ops are stays known.
  void forget_times() {
    for (auto& [op, each] : each_) each.calls = each.seconds = 0;
  }

  std::vector<ProfileRow> rows(double steps) const {
    std::map<std::pair<std::string, std::string>, ProfileRow> by_kind;
    for (const auto& [op, each] : each_) {
      ProfileRow& row = by_kind[{each.op, each.implementation}];
      row.op = each.op;
      row.implementation = each.implementation;
      row.calls += each.calls / steps;
      row.seconds += each.seconds / steps;
      row.flops += each.flops * each.calls / steps;
      row.bytes += each.bytes * each.calls / steps;
    }
    std::vector<ProfileRow> rows;
    for (const auto& [kind, row] : by_kind) rows.push_back(row);
    std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.seconds > b.seconds; });
    return rows;
  }

 private:
  /// Describes one call of the op.
  ProfileRow described(const Op& op) {
    const Kernel& kernel = prepared_.kernel(program_, op);
    return {.op = op.type,
            .implementation = kernel.implementation(),
            .flops = 2 * static_cast<double>(mult_adds_of(program_, op)),
            .bytes = static_cast<double>(bytes_moved(program_, op) + kernel.bytes_again())};
  }

  const Program& program_;
  Prepared& prepared_;
  Device& device_;
  Clock::time_point begin_;
  std::map<const Op*, ProfileRow> each_;
};

/// Counts steps, and has the watch forget the times of those that do not count.
class CountedSteps final : public Listener {
 public:
  CountedSteps(Watch& watch, std::int64_t warm_up) : watch_(watch), left_(warm_up) {}
  void step(const Moment&) override {
    if (left_-- > 0) {
      watch_.forget_times();
      begin_ = Clock::now();
    } else {
      ++counted_;
      seconds_ = 1e-3 * ms_since(begin_);
    }
  }
  double counted() const { return static_cast<double>(counted_); }
  double seconds() const { return seconds_; }

 private:
  Watch& watch_;
  std::int64_t left_, counted_ = 0;
  Clock::time_point begin_ = Clock::now();
  double seconds_ = 0;
};

/// Seconds of an op of one output on inputs of such shapes.
double seconds_of(Device& device, const char* type, const std::vector<Shape>& shapes) {
  Program program;
  std::vector<VarId> in;
  for (const Shape& shape : shapes) in.push_back(add_var(program, {.name = "x", .shape = shape, .kind = Kind::Input}));
  append_op(program, 0, Role::Forward, type, in, {}, "y");
  Prepared prepared(device);
  return seconds_of_kernel(device, prepared, program, program.blocks[0].ops.front());
}

}  // namespace

double flops_of(const Program& program) {
  double flops = 0;
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) flops += 2 * static_cast<double>(mult_adds_of(program, op));
  return flops;
}

double product_flops(Device& device, std::int64_t side) {
  return 2 * std::pow(static_cast<double>(side), 3) / seconds_of(device, "fc", {{side, side}, {side, side}});
}

std::string slow_step_line(double flops, double flops_per_second) {
  constexpr double kLong = 10, kGiga = 1e9;
  const double seconds = flops / flops_per_second;
  if (seconds <= kLong) return "";
  return message("a step will take about ", std::round(seconds), " s here, if not more: ", std::round(flops / kGiga),
                 " GFLOP, of which a product does ", std::round(flops_per_second / kGiga), " a second");
}

StepProfile profile_steps(Session& session, const RunSetting& run, std::int64_t warm_up) {
  constexpr std::int64_t kSide = 2048, kCopied = std::int64_t{1} << 25;
  StepProfile profile;
  profile.peak_flops = product_flops(session.device(), kSide);
  profile.peak_bytes = 2.0 * kCopied * 4 / seconds_of(session.device(), kAssign, {{kCopied}});
  Watch watch(session.plan().training.program, session.prepared(), session.device());
  CountedSteps count(watch, warm_up);
  session.executor().observe(&watch);
  session.train(run, count);
  session.executor().observe(nullptr);
  profile.seconds = count.seconds() / count.counted();
  profile.rows = watch.rows(count.counted());
  return profile;
}

}  // namespace lethe
