// cuDNN's engines for a simulated GPU, which is the H200 that is described.
#include <gtest/gtest.h>

#include "framework/error.h"
#include "kernels/conv/conv.h"
#include "kernels/cuda/device.h"
#include "tests/support/environment.h"
#include "train/session/device.h"

namespace lethe::testing {
namespace {

const ConvShape kShapes[] = {
    {.batch = 32, .channels = 64, .filters = 64, .in = {28, 28}, .out = {28, 28}, .kernel = {3, 3}, .pad = {1, 1}},
    {.batch = 32, .channels = 64, .filters = 256, .in = {28, 28}, .out = {28, 28}, .kernel = {1, 1}},
    {.batch = 8, .channels = 7, .filters = 10, .in = {13, 13}, .out = {13, 13}, .kernel = {3, 3}, .pad = {1, 1}},
    {.batch = 8,
     .channels = 32,
     .filters = 32,
     .groups = 32,
     .in = {9, 9},
     .out = {9, 9},
     .kernel = {3, 3},
     .pad = {1, 1}},
};

/// How often cuDNN's heuristics are asked for engines.
int questions(const std::function<void()>& plan) {
  const Environment tell("SIMULATED_GPU_TELL", "1");
  ::testing::internal::CaptureStderr();
  plan();
  const std::string said = ::testing::internal::GetCapturedStderr();
  int count = 0;
  for (std::size_t at = 0; (at = said.find("simulated GPU: heuristics", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(Engines, TakeWhatTheyTakeByDescriptionAndFallbacksAreOnlyAskedForWhereTheyAreNeeded) {
  int with_fallback = 0, without = 0;
  for (const bool rounds : {false, true}) {
    const std::unique_ptr<Device> there = open_gpu(0, {.tf32 = rounds, .fast_conv = rounds});
    const DeviceInfo described = device_info({.name = "h200", .tf32 = rounds, .fast_conv = rounds});
    for (const ConvShape& s : kShapes)
      for (const DType dtype : {DType::f32, DType::bf16})
        for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight}) {
          SCOPED_TRACE(message(text_of(pass, s), ", ", name_of(dtype), rounds ? ", rounded" : ""));
          std::unique_ptr<Kernel> kernel;
          const int asked = questions([&] { kernel = prepare_conv(pass, s, {}, dtype, there->info()); });
          EXPECT_EQ(kernel->workspace_bytes(), prepare_conv(pass, s, {}, dtype, described)->workspace_bytes());
          ++(asked == 2 ? with_fallback : without);
        }
  }
  EXPECT_GT(with_fallback, 0);
  EXPECT_GT(without, with_fallback);
}

}  // namespace
}  // namespace lethe::testing
