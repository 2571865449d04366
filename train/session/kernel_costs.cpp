#include "train/session/kernel_costs.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>

#include "framework/error.h"
#include "framework/op_def.h"
#include "framework/prepared.h"
#include "models/json_source.h"
#include "train/session/atomic_file.h"
#include "train/session/device.h"

namespace lethe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kVersion = 1;
/// A kernel runs so often, unless one run takes longer than that; its fastest run counts.
constexpr int kRuns = 4;
constexpr double kLong = 0.05;  // seconds

/// "AMD EPYC 9354"; "" if the system does not tell.
std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(std::min(line.find(": ") + 2, line.size()));
  return "";
}

class KernelCosts {
 public:
  KernelCosts(const DeviceSetting& setting, std::string file)
      : file_(std::move(file)), device_(open_device(setting)), prepared_(*device_) {
    head_ = {{"version", kVersion},
             {"device", device_->info().name},
             {"processor", processor()},
             {"threads", device_->info().threads},
             {"tf32", setting.tf32},
             {"deterministic", setting.deterministic},
             {"workspace_limit", setting.workspace_limit.value_or(0)}};
    if (std::filesystem::exists(file_)) read();
    const std::string directory = std::filesystem::path(file_).parent_path().string();
    check_writable(directory.empty() ? "." : directory);
  }
  KernelCosts(const KernelCosts&) = delete;
  KernelCosts& operator=(const KernelCosts&) = delete;
  ~KernelCosts() {
    if (!grown_) return;
    try {
      write();
    } catch (const std::exception&) {  // then they are measured again
    }
  }

  double seconds(const Program& program, const Op& op) {
    const std::string signature = kernel_signature(program, op);
    if (const auto known = seconds_.find(signature); known != seconds_.end()) return known->second;
    const double seconds = with_context(file_, [&] { return measured(program, op); });
    grown_ = true;
    return seconds_[signature] = seconds;
  }

 private:
  void read() {
    const JsonSource source(file_);
    for (const auto& [key, here] : head_.items())
      if (const JsonNode there = source.root().at(key); there.json() != here)
        there.fail("it was measured with ", key, " ", there.shown(), ", here that is ", here.dump());
    for (const auto& [signature, seconds] : source.root().at("seconds").members()) {
      const bool is_time = seconds.json().is_number() && seconds.json().get<double>() > 0;
      if (!is_time) seconds.fail(seconds.shown(), " is no number of seconds");
      seconds_[signature] = seconds.json();
    }
  }

  void write() const {
    Json json = head_;
    json["seconds"] = seconds_;
    const std::string text = json.dump(1) + "\n";
    AtomicFile out(file_);
    out.write(text.data(), static_cast<std::int64_t>(text.size()));
    out.commit();
  }

  double measured(const Program& program, const Op& op) {
    const Kernel& kernel = prepared_.kernel(program, op);
    std::vector<Buffer> memory;
    const auto zeros = [&](std::int64_t bytes) {
      const std::vector<std::byte> none(static_cast<std::size_t>(bytes));
      memory.emplace_back(*device_, bytes);
      device_->copy_in(memory.back().data(), none.data(), bytes);
      return memory.back().data();
    };
    std::vector<void*> in, out;
    for (const VarId v : op.in) in.push_back(v == kNone ? nullptr : zeros(bytes_of(program.vars[v])));
    for (std::size_t i = 0; i < op.out.size(); ++i)
      out.push_back(op_def(op.type).updates ? in[i] : zeros(bytes_of(program.vars[op.out[i]])));
    void* const workspace = zeros(kernel.workspace_bytes());
    const KernelArgs args{in.data(), out.data(), workspace, device_->stream()};
    double fastest = std::numeric_limits<double>::infinity();
    for (int run = 0; run < kRuns; ++run) {
      device_->synchronize();
      const Clock::time_point begin = Clock::now();
      device_->compute([&] { kernel.run(args); });
      device_->synchronize();
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      fastest = std::min(fastest, seconds);
      if (run > 0 && seconds > kLong) break;
    }
    return fastest;
  }

  const std::string file_;
  std::unique_ptr<Device> device_;
  Prepared prepared_;
  Json head_;
  std::map<std::string, double> seconds_;  // by signature
  bool grown_ = false;
};

}  // namespace

SecondsOf measured_costs(const DeviceSetting& device, const std::string& file) {
  check_device(device, true);
  const auto costs = std::make_shared<KernelCosts>(device, file);
  return [costs](const Program& program, const Op& op) { return costs->seconds(program, op); };
}

}  // namespace lethe
