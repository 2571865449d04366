// Which of several algorithms that compute the same is the fastest here: tried once for each shape, then remembered.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "framework/language/kernel.h"

namespace lethe {

/// An algorithm. `prepare` gives null if it does not serve.
struct Algorithm {
  std::string name;
  std::function<std::unique_ptr<Kernel>()> prepare;
};

/// What a kernel reads and writes: bytes of its inputs, and of its output.
struct Operands {
  std::vector<std::int64_t> in;
  std::int64_t out = 0;
};

/// The algorithm that was chosen, by its place among those that were given, and its kernel; null if no algorithm
/// serves.
struct Chosen {
  std::size_t algorithm = 0;
  std::unique_ptr<Kernel> kernel = {};
};

class Trials {
 public:
  using Choices = std::map<std::string, std::string>;  // names of algorithms, by what they compute
  /// `known`: of earlier trials. `chosen` is told all choices after each trial.
  explicit Trials(Choices known = {}, std::function<void(const Choices&)> chosen = {})
      : choices_(std::move(known)), chosen_(std::move(chosen)) {}

  /// The algorithm that was chosen for `what`, or else the fastest of a few runs on the device, in memory of its own.
  /// The first algorithm stays unless another saves 5 % of its time. Fails with Exit::Device if there is no memory to
  /// try them. May be called by several threads.
  Chosen best(const std::string& what, const std::vector<Algorithm>& algorithms, const Operands& operands,
              const DeviceInfo& device);

 private:
  std::recursive_mutex one_at_a_time_;  // an algorithm may have others within
  Choices choices_;
  std::function<void(const Choices&)> chosen_;
};

}  // namespace lethe
