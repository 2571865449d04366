// cuDNN's engines for convolutions, chosen for a GPU that is not there.
#include <gtest/gtest.h>

#include <algorithm>

#include "framework/error.h"
#include "kernels/conv/cudnn_conv.h"
#include "tests/support/expect_error.h"
#include "train/session/device.h"

namespace lethe::testing {
namespace {

constexpr DType kFloats[] = {DType::f32, DType::f64, DType::bf16, DType::f16};
constexpr ConvPass kPasses[] = {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight};

DeviceInfo h200() { return device_info({.name = "h200"}); }

ConvShape shape(std::int64_t channels, std::int64_t filters, std::int64_t size, std::int64_t kernel,
                std::int64_t groups = 1, std::int64_t stride = 1, std::int64_t dilation = 1) {
  const std::int64_t pad = kernel / 2, out = (size + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
  return {.batch = 32,
          .channels = channels,
          .filters = filters,
          .groups = groups,
          .in = {size, size},
          .out = {out, out},
          .kernel = {kernel, kernel},
          .stride = {stride, stride},
          .pad = {pad, pad},
          .dilation = {dilation, dilation}};
}

const std::vector<ConvShape> kCudnnShapes = {
    shape(64, 64, 28, 3), shape(64, 256, 28, 1),      shape(3, 64, 64, 7, 1, 2),
    shape(1, 6, 28, 5),   shape(128, 128, 28, 3, 32), shape(64, 64, 28, 3, 64),
    shape(7, 10, 13, 3),  shape(16, 32, 17, 3, 1, 2), shape(16, 16, 20, 3, 1, 1, 2)};

TEST(Cudnn, EveryConvolutionHasAnEngineWithinTheRules) {
  for (const DType dtype : kFloats)
    for (const bool deterministic : {false, true})
      for (std::size_t i = 0; i < kCudnnShapes.size(); ++i)
        for (const ConvPass pass : kPasses) {
          SCOPED_TRACE(message(name_of(dtype), ", shape ", i, ", pass ", static_cast<int>(pass)));
          DeviceInfo device = h200();
          device.deterministic = deterministic;
          const auto plan = plan_conv(pass, kCudnnShapes[i], {}, dtype, device);
          ASSERT_TRUE(plan);
          EXPECT_LE(plan->workspace(), workspace_limit(device));
          for (const CudnnEngine& engine : plan->engines()) {
            EXPECT_FALSE(engine.notes.tensor_cores && dtype == DType::f32) << "rounds to TF32 unasked";
            EXPECT_TRUE(engine.notes.deterministic || !deterministic);
            EXPECT_FALSE(engine.notes.approximates || engine.notes.rounds_sums);
          }
        }
}

TEST(Cudnn, Tf32IsForTheAsking) {
  DeviceInfo device = h200();
  device.tf32 = true;
  for (const ConvPass pass : kPasses)
    EXPECT_TRUE(plan_conv(pass, kCudnnShapes[0], {}, DType::f32, device)->engine().notes.tensor_cores)
        << static_cast<int>(pass);
}

TEST(Cudnn, WhatRoundsMoreIsForTheAsking) {
  const auto approximates = [](bool asked) {
    DeviceInfo device = device_info({.name = "a100"});
    device.fast_conv = asked;
    int count = 0;
    for (const ConvPass pass : kPasses) {
      const auto plan = plan_conv(pass, kCudnnShapes[0], {}, DType::f32, device);
      for (const CudnnEngine& engine : plan->engines()) count += engine.notes.approximates ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(approximates(false), 0);
  EXPECT_GT(approximates(true), 0);
}

TEST(Cudnn, OthersStandAfterTheBestEngineForNoByte) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const ConvPass pass : kPasses) {
      const auto plan = plan_conv(pass, kCudnnShapes[0], {}, dtype, h200());
      SCOPED_TRACE(message(name_of(dtype), ", pass ", static_cast<int>(pass)));
      EXPECT_GE(plan->engines().size(), 2U);
      EXPECT_EQ(plan->workspace(), plan->engine().workspace);
      EXPECT_NE(plan->engines()[0].index, plan->engines()[1].index);
    }
}

TEST(Cudnn, LowFloatsAreForTensorCores) {
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const ConvPass pass : kPasses)
      EXPECT_TRUE(plan_conv(pass, kCudnnShapes[0], {}, dtype, h200())->engine().notes.tensor_cores) << name_of(dtype);
}

TEST(Cudnn, ABiasIsAddedOnTheWayForNoByteAndReluIfNanStaysNan) {
  for (const DType dtype : kFloats)
    for (const ConvShape& s : kCudnnShapes) {
      SCOPED_TRACE(message(name_of(dtype), ", shape ", &s - kCudnnShapes.data()));
      const auto plain = plan_conv(ConvPass::Forward, s, {}, dtype, h200());
      const auto biased = plan_conv(ConvPass::Forward, s, {.bias = true}, dtype, h200());
      const auto activated = plan_conv(ConvPass::Forward, s, {.bias = true, .relu = true}, dtype, h200());
      ASSERT_TRUE(plain && biased);
      EXPECT_LE(biased->workspace(), plain->workspace());
      if (!activated) continue;
      for (const CudnnEngine& engine : activated->engines()) EXPECT_TRUE(engine.notes.keeps_nan);
    }
}

TEST(Cudnn, ReluWithoutABiasIsAPassOfItsOwn) {
  EXPECT_FALSE(plan_conv(ConvPass::Forward, kCudnnShapes[0], {.relu = true}, DType::f32, h200()));
  const auto plain = prepare_conv(ConvPass::Forward, kCudnnShapes[0], {}, DType::f32, h200());
  const auto activated = prepare_conv(ConvPass::Forward, kCudnnShapes[0], {.relu = true}, DType::f32, h200());
  EXPECT_EQ(activated->workspace_bytes(), plain->workspace_bytes());
}

TEST(Cudnn, WhatItHasNoEngineForIsAProductOfWindows) {
  DeviceInfo device = h200();
  device.workspace_limit = -1;
  EXPECT_FALSE(plan_conv(ConvPass::Forward, kCudnnShapes[0], {}, DType::f32, device));
  ::testing::internal::CaptureStderr();
  const auto kernel =
      prepare_conv(ConvPass::Forward, kCudnnShapes[0], {.bias = true, .relu = true}, DType::f32, device);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(
      said.rfind(
          "cuDNN has no engine for a convolution of [32,28,28,64] by 64 filters of 3x3, stride 1x1, "
          "padding 1x1, dilation 1x1, 1 group in f32 within -1 bytes of workspace: computed by im2col and cuBLAS in ",
          0),
      0U)
      << said;
  constexpr std::int64_t kOfAnImage = 28 * 28 * 3 * 3 * 64 * 4, kOfTheProduct = 32 << 20;
  EXPECT_EQ(kernel->workspace_bytes(), round_up(kOfAnImage, kGpuAlignment) + kOfTheProduct);
}

TEST(Cudnn, SaysOnceThatEnginesRankedFirstNeedMoreThanTheLimit) {
  static std::int64_t limit = 1 << 20;
  ++limit;  // another one whenever this is repeated in a process, which says each line once
  const auto said_with = [](std::int64_t bytes) {
    DeviceInfo device = h200();
    device.workspace_limit = bytes;
    ::testing::internal::CaptureStderr();
    for (const ConvPass pass : kPasses)
      for (int i = 0; i < 2; ++i) plan_conv(pass, kCudnnShapes[0], {}, DType::f32, device);
    return ::testing::internal::GetCapturedStderr();
  };
  const std::string said = said_with(limit);
  EXPECT_EQ(said.rfind(message("cuDNN ranks engines first that need more workspace than ", limit, " bytes: "), 0), 0U)
      << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_EQ(said_with(std::int64_t{4} << 30), "");
}

// alexnet's first convolution at batch 512: cuDNN's best engines pad images of 3 channels in their workspace.
TEST(Cudnn, TakesByItselfTheEnginesThatPadImages) {
  const ConvShape first{.batch = 512,
                        .channels = 3,
                        .filters = 64,
                        .in = {224, 224},
                        .out = {55, 55},
                        .kernel = {11, 11},
                        .stride = {4, 4},
                        .pad = {2, 2}};
  const auto workspace = [&](DType dtype, bool tf32, std::optional<std::int64_t> limit) {
    DeviceInfo device = h200();
    device.tf32 = tf32;
    device.workspace_limit = limit;
    return plan_conv(ConvPass::Forward, first, {}, dtype, device)->workspace();
  };
  constexpr std::int64_t kOld = std::int64_t{256} << 20, kAmple = std::int64_t{4} << 30;
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
    for (const bool tf32 : {false, true}) {
      EXPECT_EQ(workspace(dtype, tf32, {}), workspace(dtype, tf32, kAmple)) << name_of(dtype) << (tf32 ? ", TF32" : "");
      EXPECT_LE(workspace(dtype, tf32, kOld), kOld);
    }
  EXPECT_GT(workspace(DType::bf16, false, {}), kOld);
}

TEST(Cudnn, WrongShapesAreRefusedInItsWords) {
  ConvShape wrong = kCudnnShapes[0];
  wrong.out[0] += 1;
  EXPECT_TRUE(fails_with("cuDNN: convolution: ", [&] { plan_conv(ConvPass::Forward, wrong, {}, DType::f32, h200()); }));
}

TEST(Cudnn, ADescriptionThatItCannotReadIsRefused) {
  DeviceInfo device = h200();
  device.properties = "{}";
  EXPECT_TRUE(fails_with("cuDNN: description of a GPU: ",
                         [&] { plan_conv(ConvPass::Forward, kCudnnShapes[0], {}, DType::f32, device); }));
}

}  // namespace
}  // namespace lethe::testing
