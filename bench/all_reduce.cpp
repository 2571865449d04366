// The sum of all ranks' values, ours along a fixed tree against that of the MPI library, in turns; and what `train plan
// --network` is to be told of the links between them, so that it predicts the time of ours:
//   mpirun -n 2 bench_all_reduce [--mb 100] [--rounds 15]
#include <mpi.h>

#include <cstdio>
#include <functional>

#include "bench/bench.h"
#include "framework/language/op_def.h"
#include "framework/ranks/traffic.h"
#include "train/ranks/collectives.h"
#include "train/ranks/mpi.h"

using namespace lethe;

namespace {

/// Until the last rank is done.
double slowest_seconds(const std::function<void()>& sum) {
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = seconds_of(sum);
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/// What the sum of so many values takes.
Traffic traffic_of_sum(std::int64_t count, std::int64_t ranks) {
  Program program;
  const VarId x = add_var(program, {.name = "x", .shape = {count}, .kind = Kind::Input});
  append_op(program, 0, Role::Optimize, kAllReduceStart, {x}, {{kRanks, ranks}}, "sum");
  return traffic_of(program);
}

/// The link whose model (framework/ranks/traffic.h) takes these seconds for a sum of one value, and for one of `count`.
Link link_of(double of_one, double of_all, std::int64_t count, std::int64_t ranks) {
  const Traffic one = traffic_of_sum(1, ranks), all = traffic_of_sum(count, ranks);
  const auto sending = [](const Traffic& t) { return static_cast<double>(t.messages) * Link::kMessage; };
  Link link;
  link.latency = std::max(of_one - sending(one), 0.0) / static_cast<double>(one.exchanges);
  const double fixed = sending(all) + static_cast<double>(all.exchanges) * link.latency;
  link.bytes = static_cast<double>(all.bytes) / std::max(of_all - fixed, of_all / 10);  // the rest is what bytes take
  return link;
}

void run(std::int64_t megabytes, int rounds) {
  const std::int64_t count = megabytes * 1000000 / 4;
  const MpiWorld world;
  const std::unique_ptr<Transport> transport = world.transport(std::chrono::seconds(60));
  Collectives peers(*transport);
  const auto length = static_cast<std::size_t>(count);
  std::vector<float> values(length, 1.0F), sums(length);
  std::vector<float> room(static_cast<std::size_t>(room_of_sum(count, world.rank().of)));
  std::vector<double> ours, theirs, small;
  for (int round = 0; round <= rounds; ++round) {
    const double mine = slowest_seconds([&] {
      peers.start_sum(values.data(), room.data(), DType::f32, count);
      peers.finish(values.data());
    });
    const double of_one = slowest_seconds([&] {
      peers.start_sum(values.data(), room.data(), DType::f32, 1);
      peers.finish(values.data());
    });
    const double other = slowest_seconds([&] {
      MPI_Allreduce(values.data(), sums.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    });
    std::fill(values.begin(), values.end(), 1.0F);
    if (round == 0) continue;  // which touches memory for the first time
    ours.push_back(mine);
    theirs.push_back(other);
    small.push_back(of_one);
  }
  if (world.rank().number != 0) return;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(theirs[i] / ours[i]);
  std::printf("%lld MB on %lld ranks: ours %.1f ms, MPI_Allreduce %.1f ms; bandwidth %.2f of its (%.2f to %.2f)\n",
              static_cast<long long>(megabytes), static_cast<long long>(world.rank().of), 1000 * median(ours),
              1000 * median(theirs), median(ratios), *std::min_element(ratios.begin(), ratios.end()),
              *std::max_element(ratios.begin(), ratios.end()));
  const Link link = link_of(median(small), median(ours), count, world.rank().of);
  std::printf("--network %.3fGb,%.3fus\n", 8e-9 * link.bytes, 1e6 * link.latency);
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t megabytes = 100;
  int rounds = 15;
  CLI::App app{"The sum of all ranks' values, beside the MPI library's", "bench_all_reduce"};
  app.add_option("--mb", megabytes)->check(CLI::PositiveNumber);
  app.add_option("--rounds", rounds)->check(CLI::PositiveNumber);
  return run_program(app, argc, argv, [&] { run(megabytes, rounds); });
}
