#include "train/session/programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "framework/run/executor.h"
#include "framework/run/forwarding_device.h"
#include "kernels/cpu/device.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/data/synthetic_images.h"
#include "train/recipe.h"
#include "train/session/fed_data.h"
#include "train/session/memory_guest.h"

namespace lethe::testing {
namespace {

TEST(Programs, TheDataHasTheClassesThatTheLossReadsWhateverTheOutputs) {
  const TemporaryFolder folder;
  for (const char* outputs : {R"(["features", "logits"])", R"(["logits", "features"])", R"(["features"])"}) {
    folder.write("net.json", std::string(R"({"version": 1, "name": "net",
      "inputs": {"image": {"shape": [3, 8, 8]}, "label": {"shape": [], "dtype": "i32"}},
      "layers": [{"op": "fc", "out": 16, "name": "features"}, {"op": "fc", "out": 5, "name": "logits"}],
      "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}], "outputs": )") +
                                 outputs + "}");
    const Options options = decided(parse_options({"--model", folder.text() + "/net.json"}));
    const auto data = open_data(options.data.spec, 0, build_network(options.program.network, true));
    EXPECT_EQ(dynamic_cast<const Dataset&>(*data).info().classes.size(), 5U) << outputs;
  }
}

TEST(Programs, ANetworkWithALabelForEachPixelTakesMasks) {
  const TemporaryFolder folder;
  const auto opened = [&](const std::string& labels) {
    folder.write("net.json", R"({"version": 1, "name": "net",
      "inputs": {"image": {"shape": [3, 8, 6]}, "mask": {"shape": )" +
                                 labels + R"(, "dtype": "i32"}},
      "layers": [{"op": "conv", "out": 3, "k": 1, "name": "scores"}, {"op": "reshape", "shape": [-1, 3], "batch": true},
                 {"op": "reshape", "in": "mask", "shape": [-1], "batch": true, "name": "wanted"}],
      "loss": [{"op": "cross_entropy", "in": "reshape1", "target": "wanted"}]})");
    const Options options = decided(parse_options({"--model", folder.text() + "/net.json"}));
    return open_data(options.data.spec, 0, build_network(options.program.network, true));
  };
  const auto data = opened("[8, 6]");
  EXPECT_EQ(dynamic_cast<const Masks&>(*data).info().classes.size(), 3U);
  EXPECT_EQ(data->labels(), 48);
  EXPECT_PRED2(says, error_from([&] { opened("[48]"); }),
               "but data sets give a label for each image, or for each of its pixels");
}

/// Counts what is taken in aligned pieces, as a device that has reserved memory hands it out.
class PieceCounter final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  void* allocate(std::int64_t bytes) override {
    taken += round_up(bytes, info().alignment);
    return ForwardingDevice::allocate(bytes);
  }
  std::int64_t taken = 0;
};

TEST(Programs, WhatIsReservedIsWhatARunHoldsBeforeItsFirstStep) {
  const TemporaryFolder folder;
  folder.write("small.json", std::string(kSmallNetwork));
  for (const char* memopt : {"none", "level=1", "level=1,release", "level=2"})
    for (const bool evaluated : {false, true}) {
      SCOPED_TRACE(message(memopt, evaluated ? ", evaluated" : ""));
      const Options options =
          decided(parse_options({"--model", folder.text() + "/small.json", "--memopt", memopt, "--batch", "3"}));
      const auto cpu = open_cpu(1);
      PieceCounter device(*cpu);
      Prepared prepared(device);
      const Programs programs = build_programs(options.program);
      const Plans plans = plan_programs(programs, evaluated, options.program.memory, prepared);
      Store store(device);
      Buffer arena(device, plans.arena);
      Buffer* const shared = plans.arena > 0 ? &arena : nullptr;
      const Executor training(plans.training.program, plans.training.plan, prepared, store, shared);
      const Executor evaluation(plans.evaluation.program, plans.evaluation.plan, prepared, store, shared);
      EXPECT_EQ(device.taken,
                reserved_bytes({&plans.training, &plans.evaluation}, plans.arena, device.info().alignment));
    }
}

/// A guest of the test's own: nothing of a training step shares memory.
GuestProgram lowered_by_test(const Network& network, DType) {
  GuestProgram made{.program = network.program};
  made.grads = append_backward(made.program, network.loss);
  made.plan = [](const Program& program, Prepared& prepared) {
    Planned planned{.program = program, .workspaces = workspaces_of(program, prepared)};
    planned.plan = plan_none(program, planned.workspaces);
    return planned;
  };
  made.plan_unshared = [program = made.program](Prepared& prepared) {
    return plan_none(program, workspaces_of(program, prepared));
  };
  return made;
}

TEST(Programs, AGuestLowersAndPlansWhatItIsAskedFor) {
  const TemporaryFolder folder;
  folder.write("small.json", std::string(kSmallNetwork));
  ProgramSetting setting = decided(parse_options({"--model", folder.text() + "/small.json", "--batch", "4"})).program;
  setting.memory.text = "guest_of_test";
  setting.memory.guest = std::make_shared<const GuestMemory>(GuestMemory{.training = true, .lower = lowered_by_test});
  Prepared prepared{DeviceInfo{}};
  const Programs programs = build_programs(setting);
  const Plans plans = plan_programs(programs, true, setting.memory, prepared);
  EXPECT_EQ(plans.training.program, programs.training);
  EXPECT_EQ(programs.training.blocks[0].ops.back().role, Role::Optimize) << "updates follow what it lowered";
  EXPECT_EQ(plans.training.plan.bytes, plan_none(programs.training, plans.training.workspaces).bytes);
  EXPECT_GT(plans.none, 0) << "its plan without sharing counts";
  EXPECT_FALSE(plans.training.arena);
  EXPECT_TRUE(plans.evaluation.arena) << "evaluation beside it is at level 2";
  setting.micro_batch = 2;
  EXPECT_PRED2(says, error_from([&] { build_programs(setting); }, Exit::Usage),
               "no place in the memory of guest_of_test");
}

TEST(MemoryGuests, OfTwoWithOneWordTheSecondFails) {
  ASSERT_FALSE(memory_guests().empty());
  const MemoryGuest first = memory_guests().front();
  EXPECT_THROW(RegisterGuest{first}, std::logic_error);
  EXPECT_EQ(std::ranges::count(memory_guests(), std::string(first.word), &MemoryGuest::word), 1);
}

}  // namespace
}  // namespace lethe::testing
