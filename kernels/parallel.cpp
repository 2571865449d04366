#include "kernels/parallel.h"

#include <omp.h>

#include <algorithm>
#if defined(__SSE2__)
#include <pmmintrin.h>
#include <xmmintrin.h>
#endif

namespace lethe {
namespace {

int threads_in_use = 0;  // of the process, as OpenMP's own setting is

void flush_denormals() {
#if defined(__SSE2__)
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
#endif
}

}  // namespace

int worker_threads() { return threads_in_use > 0 ? threads_in_use : omp_get_max_threads(); }

void set_worker_threads(int threads) {
  threads_in_use = threads > 0 ? threads : omp_get_num_procs();
  omp_set_num_threads(threads_in_use);
#pragma omp parallel
  flush_denormals();
}

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

}  // namespace lethe
