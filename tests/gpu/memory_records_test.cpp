// The driver's own record of a run: one piece of device memory, of exactly the planned size, and no other from then on.
#include <gtest/gtest.h>

#include <cstring>

#include "framework/error.h"
#include "framework/run/executor.h"
#include "kernels/cuda/device.h"
#include "tests/support/gpu_records.h"
#include "train/recipe.h"
#include "train/session/programs.h"

namespace lethe::testing {
namespace {

/// Why there is nothing to test here; "": there is.
std::string lacks_gpu() {
  try {
    gpu_count();
    const GpuRecords records;
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

class MemoryRecords : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(MemoryRecords, HoldOnePieceOfThePlannedSizeAndNoneAfterWarmUp) {
  if (const std::string lack = lacks_gpu(); !lack.empty()) GTEST_SKIP() << lack;
  const auto& [model, dtype] = GetParam();
  const Options options =
      decided(parse_options({"--model", model, "--dtype", dtype, "--device", "cuda", "--batch", "32"}));
  const Programs programs = build_programs(options.program);
  const std::unique_ptr<Device> device = open_gpu(0, {});
  Prepared prepared(*device);
  const Planned planned = plan_memory(
      programs.training, prepared, suited(training_memopt(options.program.memory, programs.network), device->info()));
  const std::int64_t arena_bytes = planned.arena->bytes;
  const std::int64_t reserved = reserved_bytes({&planned}, arena_bytes, device->info().alignment);

  GpuRecords records;
  device->reserve(reserved);
  EXPECT_EQ(records.take_allocations(), std::vector<std::int64_t>{reserved});
  Store store(*device);
  Buffer arena(*device, arena_bytes);
  Executor executor(planned.program, planned.plan, prepared, store, &arena);
  store.initialize(programs.network.program, programs.network.params, 1);
  std::vector<HostMemory> batch;
  for (const VarId v : programs.network.inputs) {
    const std::int64_t bytes = bytes_of(programs.network.program.vars[v]);
    batch.push_back(device->host_memory(bytes));
    std::memset(batch.back().get(), 0, static_cast<std::size_t>(bytes));
  }
  const auto steps = [&](int count) {
    for (int i = 0; i < count; ++i) {
      for (std::size_t n = 0; n < batch.size(); ++n) {
        const VarId v = programs.network.inputs[n];
        executor.feed_next(v, batch[n].get(), bytes_of(programs.network.program.vars[v]));
      }
      executor.run();
    }
    device->synchronize();
    return records.take_allocations();
  };
  EXPECT_EQ(steps(3), std::vector<std::int64_t>{}) << "in the first steps, by libraries";  // plain, recorded, replayed
  EXPECT_EQ(steps(20), std::vector<std::int64_t>{});
}

INSTANTIATE_TEST_SUITE_P(Runs, MemoryRecords,
                         ::testing::Values(std::pair{"lenet", "f32"}, std::pair{"resnet20", "f32"},
                                           std::pair{"resnet20", "bf16"}, std::pair{"mlp", "f32"}),
                         [](const auto& run) { return std::string(run.param.first) + "_" + run.param.second; });

}  // namespace
}  // namespace lethe::testing
