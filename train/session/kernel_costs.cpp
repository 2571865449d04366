#include "train/session/kernel_costs.h"

#include <filesystem>
#include <fstream>

#include "framework/error.h"
#include "framework/prepared.h"
#include "models/json_source.h"
#include "train/session/atomic_file.h"
#include "train/session/device.h"
#include "train/session/kernel_time.h"

namespace lethe {
namespace {

constexpr int kVersion = 3;

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
             {"winograd", !setting.no_winograd},
             {"tf32", setting.tf32},
             {"deterministic", setting.deterministic},
             {"workspace_limit", setting.workspace_limit.value_or(0)}};
    if (std::filesystem::exists(file_)) read();
    const std::string directory = std::filesystem::path(file_).parent_path().string();
    check_writable(directory.empty() ? "." : directory);
  }

  double seconds(const Program& program, const Op& op) {
    const std::string signature = kernel_signature(program, op);
    if (const auto known = seconds_.find(signature); known != seconds_.end()) return known->second;
    const double seconds = with_context(file_, [&] { return seconds_of_kernel(*device_, prepared_, program, op); });
    seconds_[signature] = seconds;
    write();  // what was measured stays, even if planning is stopped
    return seconds;
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

  const std::string file_;
  std::unique_ptr<Device> device_;
  Prepared prepared_;
  Json head_;
  std::map<std::string, double> seconds_;  // by signature
};

}  // namespace

SecondsOf measured_costs(const DeviceSetting& device, const std::string& file) {
  check_device(device, true);
  const auto costs = std::make_shared<KernelCosts>(device, file);
  return [costs](const Program& program, const Op& op) { return costs->seconds(program, op); };
}

}  // namespace lethe
