// Two GPUs in one process. The simulated libraries refuse what is of the other one.
#include <gtest/gtest.h>

#include <thread>

#include "kernels/cuda/device.h"
#include "tests/support/environment.h"
#include "tests/support/network_run.h"

namespace lethe::testing {
namespace {

constexpr int kSteps = 4;

using Trained = std::map<std::string, std::vector<std::byte>>;

class TwoGpus : public ::testing::Test {
 protected:
  static std::unique_ptr<Device> open(int index) { return open_gpu(index, {.deterministic = true}); }
  static std::uint64_t seed(int index) { return static_cast<std::uint64_t>(index) + 1; }
  /// What each network makes of itself with no other in the process.
  static std::vector<Trained> alone() {
    std::vector<Trained> all;
    for (const int index : {0, 1}) all.push_back(trained_alone(*open(0), seed(index), kSteps));
    return all;
  }

  const Environment two_{"SIMULATED_GPU_COUNT", "2"};
};

TEST_F(TwoGpus, TakeTurnsInOneThread) {
  const std::unique_ptr<Device> first = open(0), second = open(1);
  NetworkRun on_first(*first, seed(0)), on_second(*second, seed(1));
  for (int step = 0; step < kSteps; ++step) {
    on_second.step();
    on_first.step();
  }
  const std::vector<Trained> expected = alone();
  EXPECT_EQ(on_first.trained() == expected[0], true);
  EXPECT_EQ(on_second.trained() == expected[1], true);
  EXPECT_EQ(expected[0] == expected[1], false);
}

TEST_F(TwoGpus, TrainAtOnceInTwoThreads) {
  std::vector<Trained> beside(2);
  const auto train = [&](int index) {
    beside[static_cast<std::size_t>(index)] = trained_alone(*open(index), seed(index), kSteps);
  };
  std::thread first(train, 0), second(train, 1);
  first.join();
  second.join();
  EXPECT_EQ(beside == alone(), true);
}

}  // namespace
}  // namespace lethe::testing
