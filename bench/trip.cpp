// What a trip of a loop costs beyond its kernels: the same ops in a loop and written out.
#include <cstdio>

#include "bench/bench.h"
#include "framework/builder/builder.h"
#include "framework/run/executor.h"
#include "kernels/cpu/device.h"

using namespace lethe;

namespace {

constexpr std::int64_t kTrips = 2000;
constexpr int kRuns = 21;

/// Microseconds of a step, for each trip.
double time_of(const Network& network) {
  const std::unique_ptr<Device> device = open_cpu(1);
  Prepared prepared(*device);
  Store store(*device);
  const Plan plan = plan_none(network.program, workspaces_of(network.program, prepared));
  Executor executor(network.program, plan, prepared, store);
  const float x = 1;
  executor.feed(network.inputs[0], &x, sizeof x);
  return 1e6 * median_seconds(kRuns, [&] { executor.run(); }) / kTrips;
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

int main(int argc, char** argv) {
  CLI::App app{"What a trip of a loop costs beyond its kernels", "bench_trip"};
  return run_program(app, argc, argv, [] {
    const double loop = time_of(looped()), kernels = time_of(written_out());
    std::printf("a trip of a loop: %.3f us, its kernels written out: %.3f us, beyond them: %.3f us\n", loop, kernels,
                loop - kernels);
  });
}
