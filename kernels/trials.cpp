#include "kernels/trials.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>

#include "framework/error.h"
#include "kernels/cpu/workers.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

constexpr double kWorthIt = 0.95;   // of the first way's time
constexpr int kRuns = 5;            // of each way, in turn
constexpr double kHopeless = 2;     // times the fastest after two runs: not tried on
constexpr double kMostSeconds = 1;  // for the runs of all ways; each runs twice at least

/// Memory of a kernel, aligned; f32 values in it are neither zero nor denormal.
class Memory {
 public:
  explicit Memory(std::int64_t bytes)
      : values_(static_cast<std::size_t>(aligned(bytes) + kAlignment) / sizeof(float), 0.5F) {}
  void* data() {
    void* at = values_.data();
    std::size_t space = values_.size() * sizeof(float);
    return std::align(kAlignment, 1, at, space);
  }

 private:
  static constexpr std::int64_t kAlignment = 64;
  std::vector<float> values_;
};

struct Candidate {
  Candidate(const Way& way, std::unique_ptr<Kernel> kernel)
      : way(&way), kernel(std::move(kernel)), workspace(this->kernel->workspace_bytes()) {}
  const Way* way;
  std::unique_ptr<Kernel> kernel;
  Memory workspace;
  double seconds = std::numeric_limits<double>::infinity();
};

class Race {
 public:
  explicit Race(const Operands& operands) : out_(operands.out), output_(out_.data()) {
    for (const std::int64_t bytes : operands.in) in_.emplace_back(bytes);
    for (Memory& memory : in_) inputs_.push_back(memory.data());
  }

  void run(std::vector<Candidate>& candidates) {
    for (Candidate& c : candidates) run_once(c), run_once(c);
    double fastest = std::numeric_limits<double>::infinity();
    for (const Candidate& c : candidates) fastest = std::min(fastest, c.seconds);
    for (int i = 2; i < kRuns && spent_ < kMostSeconds; ++i)
      for (Candidate& c : candidates)
        if (c.seconds < kHopeless * fastest) run_once(c);
  }

 private:
  void run_once(Candidate& c) {
    const KernelArgs args{.inputs = inputs_.data(), .outputs = &output_, .workspace = c.workspace.data()};
    const auto begin = std::chrono::steady_clock::now();
    c.kernel->run(args);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    c.seconds = std::min(c.seconds, seconds);
    spent_ += seconds;
  }

  std::vector<Memory> in_;
  Memory out_;
  std::vector<void*> inputs_;
  void* output_;
  double spent_ = 0;
};

/// The fastest, the first if the others do not save enough.
Candidate& fastest_of(std::vector<Candidate>& candidates, const Operands& operands, int threads) {
  const Workers workers(threads);
  Race(operands).run(candidates);
  Candidate* best = &candidates.front();
  for (Candidate& c : candidates)
    if (c.seconds < (best == &candidates.front() ? kWorthIt : 1) * best->seconds) best = &c;
  return *best;
}

}  // namespace

std::unique_ptr<Kernel> Trials::best(const std::string& what, const std::vector<Way>& ways, const Operands& operands,
                                     const DeviceInfo& device) {
  const std::lock_guard lock(one_at_a_time_);
  if (const auto known = choices_.find(what); known != choices_.end())
    for (const Way& way : ways)
      if (way.name == known->second)
        if (auto kernel = way.prepare()) return kernel;
  try {
    std::vector<Candidate> candidates;
    for (const Way& way : ways)
      if (auto kernel = way.prepare()) candidates.emplace_back(way, std::move(kernel));
    if (candidates.empty()) return nullptr;
    Candidate& best = candidates.size() == 1 ? candidates.front() : fastest_of(candidates, operands, device.threads);
    choices_[what] = best.way->name;
    if (chosen_) chosen_(choices_);
    return std::move(best.kernel);
  } catch (const std::bad_alloc&) {
    fail_as(Exit::Device, "no memory to try ways to compute ", what);
  }
}

}  // namespace lethe
