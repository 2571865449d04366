// What `train bench` measured, and how it is written.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lethe {

/// Steps of a process that are not timed: the first ones find caches and pages cold.
inline constexpr std::int64_t kWarmUpSteps = 2;

struct BenchHead {
  std::string network = {};
  std::int64_t batch = 0;
  std::string dtype = {};
  std::int64_t steps = 0;
  int rounds = 0;
};

/// One memory setting, over all its processes.
struct BenchRow {
  std::string memopt;
  std::int64_t planned = 0;                  // bytes, said beforehand
  std::int64_t taken = 0;                    // bytes, of the device at most
  std::int64_t process = 0;                  // bytes, resident at most: data, batches made ahead and libraries included
  std::vector<std::vector<double>> ms = {};  // by process: of each timed step
  std::vector<std::vector<std::string>> losses = {};  // by process: of each step, as recorded
};

/// All is compared with the first row: the slow-down is the median of the processes' ratios to those of the same round,
/// losses are equal if each process has those of the very first. `form`: text, md, csv or json, which has
/// {"model","batch","dtype","steps","rounds","rows":[{"memopt","planned","taken","process","saved","ms","slowdown",
/// "loss_equal"}]}, bytes, milliseconds and ratios.
std::string bench_as(const std::string& form, const BenchHead& head, const std::vector<BenchRow>& rows);

}  // namespace lethe
