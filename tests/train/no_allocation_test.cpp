#include <gtest/gtest.h>

#include "kernels/cpu/device.h"
#include "tests/support/allocations.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/data/augment.h"
#include "train/recipe.h"
#include "train/session/device.h"
#include "train/session/fed_data.h"
#include "train/session/start.h"
#include "train/session/trainer.h"

namespace lethe::testing {
namespace {

/// Counts the allocations made until each step begins to compute.
struct AtFirstOp final : Observer {
  AtFirstOp() { counts.reserve(1000); }
  void before(const Op& op, const KernelArgs&) override {
    if (!first) first = &op;
    if (&op == first) counts.push_back(allocations());
  }
  const Op* first = nullptr;
  std::vector<std::int64_t> counts;
};

/// How many allocations there were when each step of one epoch began to compute: between two of these lie all of a step
/// and the taking of the next batch, which others make meanwhile.
std::vector<std::int64_t> allocations_by_step(const Options& options) {
  const Programs programs = build_programs(options.program);
  const auto data = open_data(options.data.spec, 0, programs.network);
  MeteredDevice device(open_device(options.device));
  Batches batches(
      *data, training_batches(options.program.network.batch, options.program.network.dtype, options.data.augment, 0),
      device);
  Prepared prepared(device);
  const Plans plans = plan_programs(programs, false, options.program.memory, prepared);
  Store store(device);
  Executor executor(plans.training.program, plans.training.plan, prepared, store);
  fill_store({}, options.program.network.seed, {}, programs.network, store);

  AtFirstOp watch;
  executor.observe(&watch);
  const RunSetting run = options.course;
  Listener silent;
  Trainer({.setting = run,
           .programs = programs,
           .executor = executor,
           .batches = batches,
           .store = store,
           .device = device,
           .listener = silent},
          {})
      .run();
  return watch.counts;
}

// In f64: there the products are ours and Eigen's, where oneDNN takes memory of its own. Records, which make text, are
// left to the last step.
TEST(Allocations, AStepOfTheTrainerWithItsBatchesMakesNone) {
  if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has the allocator, or there is no glibc";
  const TemporaryFolder folder;
  folder.write("small.json", std::string(kSmallNetwork));
  constexpr std::size_t kSteps = 20, kFirstFew = 3;
  for (const char* threads : {"1", "2"}) {
    SCOPED_TRACE(::testing::Message() << threads << " threads");
    const std::vector<std::int64_t> counts = allocations_by_step(decided(parse_options(
        {"--model", folder.text() + "/small.json", "--data", "shapes:train=320,test=16", "--steps", "20", "--dtype",
         "f64", "--threads", threads, "--augment", "flip,pad-crop=1,cutout=2", "--log-every", "1000000"})));
    ASSERT_EQ(counts.size(), kSteps);
    for (std::size_t step = kFirstFew; step < kSteps; ++step)
      EXPECT_EQ(counts[step] - counts[step - 1], 0) << "around step " << step;
  }
}

}  // namespace
}  // namespace lethe::testing
