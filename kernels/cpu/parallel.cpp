#include "kernels/cpu/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>

namespace lethe {

int worker_threads() { return omp_get_max_threads(); }

void parallel_ranges(std::int64_t n, std::int64_t grain, RangeBody body, void* context) {
  const std::int64_t pieces =
      std::min<std::int64_t>(worker_threads(), (n + grain - 1) / std::max<std::int64_t>(grain, 1));
  if (pieces <= 1) {
    if (n > 0) body(context, 0, n);
    return;
  }
  const std::int64_t grains = (n + grain - 1) / grain;
  // Always by all threads, as oneDNN's loops are: libgomp ends and makes threads whenever two teams differ in size.
#pragma omp parallel for schedule(static, 1) num_threads(worker_threads())
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t begin = grains * piece / pieces * grain,
                       end = std::min(n, grains * (piece + 1) / pieces * grain);
    if (begin < end) body(context, begin, end);
  }
}

void parallel_tasks(std::int64_t tasks, int workers, TaskBody body, void* context) {
  std::atomic<std::int64_t> next = 0;
#pragma omp parallel for schedule(static, 1) num_threads(worker_threads())
  for (int worker = 0; worker < workers; ++worker)
    for (std::int64_t task = next++; task < tasks; task = next++) body(context, task, worker);
}

}  // namespace lethe
