#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "framework/run/executor.h"
#include "tests/support/allocations.h"
#include "tests/support/counting_device.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

TEST(Allocations, AreCounted) {
  if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has the allocator, or there is no glibc";
  const std::int64_t before = allocations();
  const auto number = std::make_unique<int>(1);
  const std::unique_ptr<void, decltype(&std::free)> aligned(std::aligned_alloc(64, 64), &std::free);
  EXPECT_EQ(allocations() - before, 2);
}

// In f64: there the products are ours and Eigen's, where oneDNN takes memory of its own.
void expect_none_after_the_first_step(const TrainingProgram& made, int threads) {
  CountingDevice device(threads);
  Interpreter values(made.network.program, device.info());
  fill_network(made.network, values);
  Prepared prepared(device);
  const Plan plan = plan_none(made.network.program, workspaces_of(made.network.program, prepared));
  Store store(device);
  Executor executor(made.network.program, plan, prepared, store);
  store.initialize(made.network.program, made.network.params, 1);
  const auto step = [&] {
    for (const VarId input : made.network.inputs)
      executor.feed(input, values.memory(input).data(), values.memory(input).bytes());
    executor.run();
    return executor.fetch_scalar(made.network.loss);
  };
  step();
  const std::int64_t before = allocations();
  for (int i = 0; i < 3; ++i) step();
  EXPECT_EQ(allocations() - before, 0) << "in three steps with " << threads << " threads";
}

TEST(Allocations, AStepAfterTheFirstMakesNone) {
  if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has the allocator, or there is no glibc";
  for (const int seed : random_seeds(random_programs() / 3)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    for (const int threads : {1, 2})
      expect_none_after_the_first_step(with_updates(random_program(static_cast<std::uint64_t>(seed)), "adam"), threads);
  }
}

TEST(Allocations, AStepOfANetworkOfUsefulSizeMakesNone) {
  if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has the allocator, or there is no glibc";
  Builder net({.batch = 16, .dtype = DType::f64});
  VarId x = net.input("image", {16, 16, 8});
  for (const int out : {16, 32}) x = net.layer("relu", net.layer("bn", net.layer("conv", x, {{"out", out}, {"k", 3}})));
  x = net.layer("fc", net.layer("max_pool", x, {{"k", 2}}), {{"out", 10}});
  net.loss("cross_entropy", x, net.input("label", {}, DType::i32));
  const TrainingProgram made = with_updates(with_backward(net.finish()), "momentum");
  for (const int threads : {1, 2}) expect_none_after_the_first_step(made, threads);
}

}  // namespace
}  // namespace lethe::testing
