// The sum of all ranks' values, ours along a fixed tree against that of the MPI library, in turns:
//   mpirun -n 2 bench_all_reduce [MB] [ROUNDS]        (100 and 15)
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "train/ranks/collectives.h"
#include "train/ranks/mpi.h"

namespace {

/// Seconds until the last rank is done.
double seconds_of(const std::function<void()>& sum) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  sum();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lethe;
  const std::int64_t megabytes = argc > 1 ? std::atoll(argv[1]) : 100, count = megabytes * 1000000 / 4;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  const MpiWorld world;
  const std::unique_ptr<Transport> transport = world.transport(std::chrono::seconds(60));
  Collectives peers(*transport);
  const auto length = static_cast<std::size_t>(count);
  std::vector<float> values(length, 1.0F), sums(length);
  std::vector<float> room(static_cast<std::size_t>(room_of_sum(count, world.rank().of)));
  std::vector<double> ours, theirs;
  for (int round = 0; round <= rounds; ++round) {
    const double mine = seconds_of([&] {
      peers.start_sum(values.data(), room.data(), DType::f32, count);
      peers.finish(values.data());
    });
    const double other = seconds_of([&] {
      MPI_Allreduce(values.data(), sums.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    });
    std::fill(values.begin(), values.end(), 1.0F);
    if (round == 0) continue;  // which touches memory for the first time
    ours.push_back(mine);
    theirs.push_back(other);
  }
  if (world.rank().number != 0) return 0;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(theirs[i] / ours[i]);
  std::printf("%lld MB on %lld ranks: ours %.1f ms, MPI_Allreduce %.1f ms; bandwidth %.2f of its (%.2f to %.2f)\n",
              static_cast<long long>(megabytes), static_cast<long long>(world.rank().of), 1000 * median(ours),
              1000 * median(theirs), median(ratios), *std::min_element(ratios.begin(), ratios.end()),
              *std::max_element(ratios.begin(), ratios.end()));
  return 0;
}
