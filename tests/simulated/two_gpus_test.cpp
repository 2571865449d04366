// Two GPUs in one process. The simulated libraries refuse what is of the other one.
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/gpu_device.h"
#include "tests/support/network_run.h"

namespace lethe::testing {
namespace {

constexpr int kSteps = 4;

TEST(TwoGpus, EachTrainsBesideTheOtherAsAlone) {
  setenv("SIMULATED_GPU_COUNT", "2", 1);
  const auto open = [](int index) { return open_gpu(index, {.deterministic = true}); };
  const auto first_alone = trained_alone(*open(0), 1, kSteps), second_alone = trained_alone(*open(0), 2, kSteps);
  const std::unique_ptr<Device> first = open(0), second = open(1);
  NetworkRun on_first(*first, 1), on_second(*second, 2);
  for (int step = 0; step < kSteps; ++step) {
    on_second.step();
    on_first.step();
  }
  EXPECT_EQ(on_first.trained() == first_alone, true);
  EXPECT_EQ(on_second.trained() == second_alone, true);
  EXPECT_EQ(first_alone == second_alone, false);
  unsetenv("SIMULATED_GPU_COUNT");
}

}  // namespace
}  // namespace lethe::testing
