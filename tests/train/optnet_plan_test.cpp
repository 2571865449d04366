// optnet's sharing as plans: the bytes of the tables, and the numbers of a plan without sharing.
#include "train/optnet/optnet_plan.h"

#include <gtest/gtest.h>

#include "framework/run/executor.h"
#include "tests/support/counting_device.h"
#include "tests/train/optnet_samples.h"
#include "train/optnet/measure.h"
#include "train/optnet/torch_notes.h"

namespace lethe::testing {
namespace {

TorchProgram program_of(const Network& network, const TorchNotes& notes, TorchBackend backend, bool training,
                        bool after) {
  return torch_program(network, notes,
                       {.backend = backend, .training = training, .inplace = after, .keep_grads = !after});
}

/// Bytes of the plan's buffers by what they hold; parameters and running statistics are in the store.
OptnetBytes bytes_of_plan(const TorchProgram& torch, const OptnetPlan& planned) {
  std::map<TorchHolds, std::int64_t> bytes;
  for (std::size_t b = 0; b < planned.plan.buffers.size(); ++b) bytes[planned.as[b]] += planned.plan.buffers[b].bytes;
  for (const Var& var : torch.program.vars) {
    if (var.kind == Kind::Param) bytes[TorchHolds::Param] += bytes_of(var);
    if (var.kind == Kind::State && is_float(var.dtype)) bytes[TorchHolds::Buffer] += bytes_of(var);
  }
  return {bytes[TorchHolds::Output], bytes[TorchHolds::GradInput], bytes[TorchHolds::Buffer], bytes[TorchHolds::Param]};
}

TEST(OptnetPlan, BuffersAreTheBytesOfTheTablesAndNothingIsKeptApart) {
  for (const OptnetSample& sample : optnet_samples()) {
    const Network network = sample.network();
    const TorchNotes notes = torch_notes(sample.model);
    const OptnetOptions options{.training = sample.training};
    const OptnetCount count = optnet_count(network, notes, sample.backend, options);
    for (const bool after : {false, true}) {
      SCOPED_TRACE(sample.key + (after ? " after" : " before"));
      const TorchProgram torch = program_of(network, notes, sample.backend, sample.training, after);
      Prepared prepared{DeviceInfo{}};
      const Workspaces workspaces = workspaces_of(torch.program, prepared);
      const OptnetPlan planned = after ? plan_optnet(torch, options, workspaces) : plan_as_defined(torch, workspaces);
      OptnetBytes distinct = after ? count.after : count.before;
      distinct.buffers -= count.counted_twice;
      const OptnetBytes got = bytes_of_plan(torch, planned);
      EXPECT_EQ(got.outputs, distinct.outputs);
      EXPECT_EQ(got.grad_inputs, distinct.grad_inputs);
      EXPECT_EQ(got.buffers, distinct.buffers);
      EXPECT_EQ(got.params, distinct.params);
      EXPECT_EQ(planned.kept_apart, 0);
    }
  }
}

TorchProgram torch_of(const Network& network, TorchBackend backend, bool training, bool after) {
  return program_of(network, {}, backend, training, after);
}

/// Output and gradients after a step in memory that is NaN until it is written.
std::string results_of(const Network& network, TorchBackend backend, bool training, bool after) {
  CountingDevice device;
  Prepared prepared(device);
  const TorchProgram torch = torch_of(network, backend, training, after);
  const Workspaces workspaces = workspaces_of(torch.program, prepared);
  const OptnetPlan planned =
      after ? plan_optnet(torch, {.training = training}, workspaces) : plan_as_defined(torch, workspaces);
  return std::to_string(measure(network, torch, planned, prepared, device).results);
}

class OptnetRun : public ::testing::TestWithParam<TorchBackend> {};

TEST_P(OptnetRun, GivesTheSameBitsSharedOrNot) {
  const Network network = mixed_network(true);
  for (const bool training : {false, true}) {
    SCOPED_TRACE(training ? "training" : "inference");
    EXPECT_EQ(results_of(network, GetParam(), training, true), results_of(network, GetParam(), training, false));
  }
}

/// A branch that is its input: optnet takes that for dead once the branch was called, but its Concat copies it last.
Network dense_network() {
  Builder net({.batch = 2});
  VarId x = net.layer("conv", net.input("image", {6, 6, 3}), {{"out", 4}, {"k", 3}});
  const VarId grown =
      net.layer("conv", net.layer("sigmoid", {net.layer("conv", x, {{"out", 4}, {"k", 3}})}), {{"out", 4}, {"k", 3}});
  x = net.layer("concat", {x, grown});
  return net.finish({net.layer("conv", x, {{"out", 2}, {"k", 1}})});
}

TEST_P(OptnetRun, WhatCannotBeSharedSoundlyIsKeptApart) {
  const Network network = dense_network();
  Prepared prepared{DeviceInfo{}};
  const TorchProgram torch = torch_of(network, GetParam(), false, true);
  EXPECT_GT(plan_optnet(torch, {}, workspaces_of(torch.program, prepared)).kept_apart, 0);
  EXPECT_EQ(results_of(network, GetParam(), false, true), results_of(network, GetParam(), false, false));
}

TEST_P(OptnetRun, TakesFromTheDeviceWhatTheCountSays) {
  const Network network = mixed_network(true);
  for (const bool training : {false, true}) {
    SCOPED_TRACE(training ? "training" : "inference");
    const OptnetCount count = optnet_count(network, {}, GetParam(), {.training = training});
    CountingDevice device;
    Prepared prepared(device);
    const TorchProgram torch = torch_of(network, GetParam(), training, true);
    const OptnetPlan planned = plan_optnet(torch, {.training = training}, workspaces_of(torch.program, prepared));
    const TakenBytes taken = measure(network, torch, planned, prepared, device).taken;
    EXPECT_EQ(taken.held.total() - taken.kept_apart, count.after.total() - count.counted_twice);
    EXPECT_EQ(taken.total(), device.peak_bytes());
    EXPECT_EQ(taken.fed,
              bytes_of(torch.program.vars[torch.input]) + (training ? bytes_of(torch.program.vars[torch.output]) : 0));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, OptnetRun, ::testing::Values(TorchBackend::Nn, TorchBackend::Cudnn),
                         [](const auto& backend) { return backend.param == TorchBackend::Nn ? "nn" : "cudnn"; });

}  // namespace
}  // namespace lethe::testing
