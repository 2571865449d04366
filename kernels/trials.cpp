#include "kernels/trials.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <new>

#include "framework/error.h"
#include "kernels/timing_device.h"

namespace lethe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kWorthIt = 0.95;         // of the first algorithm's time
constexpr int kRuns = 5;                  // of each algorithm, in turn
constexpr double kHopeless = 2;           // times the fastest after two runs: not tried on
constexpr std::chrono::seconds kMost{1};  // for the runs of all algorithms; each runs twice at least

struct Candidate {
  std::size_t algorithm;
  std::unique_ptr<Kernel> kernel;
  double seconds = std::numeric_limits<double>::infinity();
};

using Candidates = std::vector<Candidate>;

/// All candidates work in the same memory.
class Race {
 public:
  Race(const Operands& operands, const Candidates& candidates, TimingDevice& device)
      : device_(device), out_(device.memory(operands.out)), output_(out_.get()) {
    for (const std::int64_t bytes : operands.in) inputs_.push_back(in_.emplace_back(device.memory(bytes)).get());
    std::int64_t most = 0;
    for (const Candidate& c : candidates) most = std::max(most, c.kernel->workspace_bytes());
    workspace_ = device.memory(most);
  }

  void run(Candidates& candidates) const {
    const Clock::time_point begin = Clock::now();
    for (Candidate& c : candidates) run_once(c), run_once(c);
    double fastest = std::numeric_limits<double>::infinity();
    for (const Candidate& c : candidates) fastest = std::min(fastest, c.seconds);
    for (int i = 2; i < kRuns && Clock::now() - begin < kMost; ++i)
      for (Candidate& c : candidates)
        if (c.seconds < kHopeless * fastest) run_once(c);
  }

 private:
  void run_once(Candidate& c) const {
    const KernelArgs args{.inputs = inputs_.data(), .outputs = &output_, .workspace = workspace_.get()};
    c.seconds = std::min(c.seconds, device_.seconds(*c.kernel, args));
  }

  TimingDevice& device_;
  std::vector<std::shared_ptr<void>> in_;
  std::shared_ptr<void> out_, workspace_;
  std::vector<void*> inputs_;
  void* output_;
};

/// The fastest, the first if the others do not save enough.
Candidate& fastest_of(Candidates& candidates, const Operands& operands, const DeviceInfo& device) {
  const std::unique_ptr<TimingDevice> timing = timing_device_on(device);
  Race(operands, candidates, *timing).run(candidates);
  Candidate* best = &candidates.front();
  for (Candidate& c : candidates)
    if (c.seconds < (best == &candidates.front() ? kWorthIt : 1) * best->seconds) best = &c;
  return *best;
}

}  // namespace

Chosen Trials::best(const std::string& what, const std::vector<Algorithm>& algorithms, const Operands& operands,
                    const DeviceInfo& device) {
  const std::lock_guard lock(one_at_a_time_);
  if (const auto known = choices_.find(what); known != choices_.end())
    for (std::size_t i = 0; i < algorithms.size(); ++i)
      if (algorithms[i].name == known->second)
        if (auto kernel = algorithms[i].prepare()) return {i, std::move(kernel)};
  try {
    Candidates candidates;
    for (std::size_t i = 0; i < algorithms.size(); ++i)
      if (auto kernel = algorithms[i].prepare()) candidates.push_back({i, std::move(kernel)});
    if (candidates.empty()) return {};
    Candidate& best = candidates.size() == 1 ? candidates.front() : fastest_of(candidates, operands, device);
    if (candidates.size() == 1 || std::isfinite(best.seconds)) {  // else all have failed, perhaps for once
      choices_[what] = algorithms[best.algorithm].name;
      if (chosen_) chosen_(choices_);
    }
    return {best.algorithm, std::move(best.kernel)};
  } catch (const std::bad_alloc&) {
    fail_as(Exit::Device, "no memory to try algorithms for ", what);
  }
}

}  // namespace lethe
