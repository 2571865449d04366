// A network that is trained on a device, on values that are the same in each run.
#pragma once
#include "framework/run/executor.h"
#include "tests/support/random_program.h"

namespace lethe::testing {

class NetworkRun {
 public:
  /// A random network of f32. The device must outlive it.
  NetworkRun(Device& device, std::uint64_t seed);

  void step();
  /// Parameters and states, by name.
  std::map<std::string, std::vector<std::byte>> trained() const;
  void observe(Observer* observer) { executor_.observe(observer); }

 private:
  const TrainingProgram made_;
  Prepared prepared_;
  Store store_;
  Executor executor_;
};

/// What some steps alone on a device make of the network.
std::map<std::string, std::vector<std::byte>> trained_alone(Device& device, std::uint64_t seed, int steps);

}  // namespace lethe::testing
