#include "framework/run/readout.h"

#include <gtest/gtest.h>

#include "framework/language/text.h"
#include "framework/run/forwarding_device.h"
#include "tests/support/counting_device.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

/// Counts how often what a program computes is waited for.
class Waits final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  void copy_out(void* to_host, const void* from, std::int64_t bytes) override {
    ++count;
    ForwardingDevice::copy_out(to_host, from, bytes);
  }
  void copy_all_out(std::span<const CopyOut> copies) override {
    ++count;
    ForwardingDevice::copy_all_out(copies);
  }
  int count = 0;
};

TEST(Readout, TakesAllValuesWithOneWait) {
  CountingDevice memory;
  Waits device(memory);
  const Program program = parse_program(
      "input x f64[3]\ninput a f32[]\ntemp y f64[3]\ntemp b f32[]\nblock 0 {\ny = relu(x)\nb = relu(a)\n}\n");
  Prepared prepared(device);
  const Plan plan = plan_none(program, workspaces_of(program, prepared));
  Store store(device);
  Executor executor(program, plan, prepared, store);
  Readout results(executor, {3, 2});
  const double x[] = {-1, 2, 3};
  for (const float a : {4.5F, 5.5F}) {
    executor.feed(0, x, sizeof x);
    executor.feed(1, &a, sizeof a);
    executor.run();
    device.count = 0;
    results.fetch();
    EXPECT_EQ(device.count, 1);
    EXPECT_EQ(results.scalar(3), a);
    const auto y = results.values<double>(2);
    EXPECT_EQ(std::vector(y.begin(), y.end()), (std::vector<double>{0, 2, 3}));
  }
  EXPECT_TRUE(fails_with("'y' is f64[3], expected a float scalar", [&] { results.scalar(2); }));
  EXPECT_TRUE(fails_with("'x' is not among what is read", [&] { results.scalar(0); }));
}

}  // namespace
}  // namespace lethe::testing
