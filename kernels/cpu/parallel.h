// The CPU's worker threads: OpenMP's, so that oneDNN and we share them. Behind a plain function, so that nvcc never
// sees OpenMP and every compiler gives the same loops.
#pragma once
#include <cstdint>
#include <type_traits>

namespace lethe {

/// Elements of a cheap elementwise loop that are worth a thread.
inline constexpr std::int64_t kElementGrain = 16384;

using RangeBody = void (*)(void* context, std::int64_t begin, std::int64_t end);
/// Cuts [0, n) into ranges of whole multiples of `grain` and runs them on the worker threads; serial if n <= grain. The
/// ranges depend on n, grain and the number of threads alone.
void parallel_ranges(std::int64_t n, std::int64_t grain, RangeBody body, void* context);

/// The same for a callable void(begin, end). Allocates nothing.
template <class F>
void parallel_ranges(std::int64_t n, std::int64_t grain, const F& f) {
  parallel_ranges(
      n, grain,
      [](void* context, std::int64_t begin, std::int64_t end) { (*static_cast<const F*>(context))(begin, end); },
      const_cast<F*>(&f));
}

using TaskBody = void (*)(void* context, std::int64_t task, int worker);
/// Does all tasks, each as soon as one of so many workers is free. A worker does one task at a time.
void parallel_tasks(std::int64_t tasks, int workers, TaskBody body, void* context);

/// The same for a callable void(task, worker), worker < workers. Allocates nothing.
template <class F>
void parallel_tasks(std::int64_t tasks, int workers, const F& f) {
  parallel_tasks(
      tasks, workers,
      [](void* context, std::int64_t task, int worker) { (*static_cast<const F*>(context))(task, worker); },
      const_cast<F*>(&f));
}

/// Worker threads of loops of the calling thread; at least 1. `Workers` (workers.h) sets them.
int worker_threads();

}  // namespace lethe
