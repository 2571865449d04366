#include "train/search/kernel_costs.h"

#include <algorithm>
#include <limits>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/language/op_facts.h"
#include "framework/language/strides.h"
#include "framework/ranks/traffic.h"
#include "framework/run/prepared.h"
#include "framework/timed.h"
#include "train/search/processor_costs.h"
#include "train/session/device.h"
#include "train/session/measured_file.h"

namespace lethe {
namespace {

/// A kernel runs so often, unless one run takes longer than that.
constexpr int kRuns = 4;
constexpr double kLong = 0.05;  // seconds

constexpr int kVersion = 6;

class KernelCosts {
 public:
  KernelCosts(const DeviceSetting& setting, std::string file)
      : device_(open_device(setting)), prepared_(*device_), file_(std::move(file), head_of(setting), "seconds") {
    file_.read([&](const std::string& signature, const JsonNode& seconds) {
      const bool is_time = seconds.json().is_number() && seconds.json().get<double>() > 0;
      if (!is_time) seconds.fail(seconds.shown(), " is no number of seconds");
      seconds_[signature] = seconds.json();
    });
  }

  /// What goes between ranks is not measured: there are none here.
  double seconds(const Program& program, const Op& op) {
    if (exchanges(op)) return seconds_on(device_->info())(program, op);
    const std::string signature = kernel_signature(program, op);
    if (const auto known = seconds_.find(signature); known != seconds_.end()) return known->second;
    const double seconds =
        with_context(file_.name(), [&] { return seconds_of_kernel(*device_, prepared_, program, op); });
    seconds_[signature] = seconds;
    file_.write(seconds_);  // what was measured stays, even if planning is stopped
    return seconds;
  }

 private:
  Json head_of(const DeviceSetting& setting) const {
    return {{"version", kVersion},
            {"device", device_->info().name},
            {"processor", processor_name()},
            {"threads", device_->info().threads},
            {"winograd", !setting.no_winograd},
            {"fast_f32", device_->info().fast_f32},
            {"autotune", setting.trials != nullptr},
            {"tf32", setting.tf32},
            {"fast_conv", setting.fast_conv},
            {"deterministic", setting.deterministic},
            {"workspace_limit", setting.workspace_limit.value_or(0)}};
  }

  std::unique_ptr<Device> device_;
  Prepared prepared_;
  MeasuredFile file_;
  std::map<std::string, double> seconds_;  // by signature
};

/// What an input is measured with: zeros, but the lengths of an attention's samples are whole, or it had nothing to do.
std::vector<std::int32_t> numbers_of(const Program& program, const Op& op, std::size_t slot) {
  const Var& var = program.vars[op.in[slot]];
  std::vector<std::int32_t> numbers(static_cast<std::size_t>((span_of(var) + 3) / 4));
  const std::vector<std::string>& names = op_def(op.type).inputs;
  if (slot > 1 && slot < names.size() && names[slot] == "lengths?") {
    const Var& keys = program.vars[op.in[1] == kNone ? op.in[0] : op.in[1]];
    std::ranges::fill(numbers, static_cast<std::int32_t>(keys.shape[1]));
  }
  return numbers;
}

}  // namespace

double seconds_of_kernel(Device& device, Prepared& prepared, const Program& program, const Op& op) {
  const Kernel& kernel = prepared.kernel(program, op);
  std::vector<Buffer> memory;
  const auto holding = [&](const std::vector<std::int32_t>& numbers) {
    const auto bytes = static_cast<std::int64_t>(numbers.size()) * 4;
    memory.emplace_back(device, bytes);
    device.copy_in(memory.back().data(), numbers.data(), bytes);
    return memory.back().data();
  };
  const auto zeros = [&](std::int64_t bytes) {
    return holding(std::vector<std::int32_t>(static_cast<std::size_t>((bytes + 3) / 4)));
  };
  std::vector<void*> in, out;
  for (std::size_t i = 0; i < op.in.size(); ++i)
    in.push_back(op.in[i] == kNone ? nullptr : holding(numbers_of(program, op, i)));
  for (std::size_t i = 0; i < op.out.size(); ++i)
    out.push_back(op_def(op.type).updates ? in[i] : zeros(span_of(program.vars[op.out[i]])));
  void* const workspace = zeros(kernel.workspace_bytes());
  const KernelArgs args{in.data(), out.data(), workspace, device.stream(), device.tickets()};
  double fastest = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    device.synchronize();
    const Clock::time_point begin = Clock::now();
    device.compute([&] { kernel.run(args); });
    device.synchronize();
    const double seconds = 1e-3 * ms_since(begin);
    fastest = std::min(fastest, seconds);
    if (run > 0 && seconds > kLong) break;
  }
  return fastest;
}

bool is_processor(const std::string& costs) {
  return costs == "amx" || (costs.starts_with("avx") && costs.find_first_of("/.") == std::string::npos);
}

SecondsOf shipped_costs(const std::string& processor, const DeviceSetting& device) {
  check(!is_gpu(device), "`costs` ", processor, " is of a CPU; the device is ", device.name);
  return with_context("`costs`", [&] { return costs_on_processor(processor); });
}

SecondsOf measured_costs(const DeviceSetting& device, const std::string& file) {
  check_device(device, true);
  const auto costs = std::make_shared<KernelCosts>(device, file);
  return [costs](const Program& program, const Op& op) { return costs->seconds(program, op); };
}

}  // namespace lethe
