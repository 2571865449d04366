#include "kernels/cpu/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>

#include "kernels/cpu/team.h"

namespace lethe {
namespace {

/// Runs `part(worker, workers)` on each worker. Always on all, as oneDNN's loops are: libgomp ends and makes threads
/// whenever two teams differ in size.
template <class F>
void by_workers(const F& part) {
  Team& team = Team::of_caller();
#pragma omp parallel num_threads(worker_threads())
  {
    const int worker = omp_get_thread_num(), workers = omp_get_num_threads();
    const bool complete = omp_get_level() == 1 && workers == team.workers();  // not so in a loop within a loop
    if (complete) team.begin(worker);
    part(worker, workers);
    if (complete) team.end(worker);
  }
  team.over();
}

}  // namespace

int worker_threads() { return omp_get_max_threads(); }

void parallel_ranges(std::int64_t n, std::int64_t grain, RangeBody body, void* context) {
  const std::int64_t pieces =
      std::min<std::int64_t>(worker_threads(), (n + grain - 1) / std::max<std::int64_t>(grain, 1));
  if (pieces <= 1) {
    if (n > 0) body(context, 0, n);
    return;
  }
  const std::int64_t grains = (n + grain - 1) / grain;
  by_workers([=](int worker, int workers) {
    for (std::int64_t piece = worker; piece < pieces; piece += workers) {
      const std::int64_t begin = grains * piece / pieces * grain,
                         end = std::min(n, grains * (piece + 1) / pieces * grain);
      if (begin < end) body(context, begin, end);
    }
  });
}

void parallel_tasks(std::int64_t tasks, int workers, TaskBody body, void* context) {
  std::atomic<std::int64_t> next = 0;
  by_workers([&](int thread, int threads) {
    for (int worker = thread; worker < workers; worker += threads)
      for (std::int64_t task = next++; task < tasks; task = next++) body(context, task, worker);
  });
}

}  // namespace lethe
