// What a trip of a loop costs beyond its kernels: the same ops in a loop and written out.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "framework/builder/builder.h"
#include "framework/run/executor.h"
#include "kernels/cpu/device.h"

namespace lethe {
namespace {

constexpr std::int64_t kTrips = 2000;
constexpr int kRuns = 21;

/// Median microseconds of a step.
double time_of(const Network& network) {
  const std::unique_ptr<Device> device = open_cpu(1);
  Prepared prepared(*device);
  Store store(*device);
  const Plan plan = plan_none(network.program, workspaces_of(network.program, prepared));
  Executor executor(network.program, plan, prepared, store);
  const float x = 1;
  executor.feed(network.inputs[0], &x, sizeof x);
  std::vector<double> times;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    executor.run();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

VarId body(Builder& net, VarId h) { return net.layer("scale", h, {{"a", 0.999}}); }

Network looped() {
  Builder net({.batch = 1});
  net.loop({net.input("x", {})}, kTrips, nullptr, [&](const Vars& h) { return Vars{body(net, h[0])}; });
  return net.finish();
}

/// A trip's three kernels: the condition, the counter and the body.
Network written_out() {
  Builder net({.batch = 1});
  VarId h = net.input("x", {});
  for (std::int64_t trip = 0; trip < 3 * kTrips; ++trip) h = body(net, h);
  return net.finish();
}

}  // namespace
}  // namespace lethe

int main() {
  const double loop = lethe::time_of(lethe::looped()) / lethe::kTrips;
  const double kernels = lethe::time_of(lethe::written_out()) / lethe::kTrips;
  std::printf("a trip of a loop: %.3f us, its kernels written out: %.3f us, beyond them: %.3f us\n", loop, kernels,
              loop - kernels);
}
