#include "kernels/cpu/workers.h"

#include <omp.h>

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/team.h"
#if defined(__SSE2__)
#include <pmmintrin.h>
#include <xmmintrin.h>
#endif

namespace lethe {
namespace {

#if defined(__SSE2__)
unsigned floating_point_mode() { return _mm_getcsr(); }
void set_floating_point_mode(unsigned mode) { _mm_setcsr(mode); }
#else
unsigned floating_point_mode() { return 0; }
void set_floating_point_mode(unsigned) {}
#endif

}  // namespace

int processors() { return omp_get_num_procs(); }

void flush_denormals() {
#if defined(__SSE2__)
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
#endif
}

/// OpenMP keeps a team for each thread that asks for one; which threads are in it only the team itself can tell.
Workers::Workers(int threads) : threads_before_(worker_threads()), mode_before_(floating_point_mode()) {
  omp_set_num_threads(threads > 0 ? threads : processors());
  Team::of_caller().resize(worker_threads());
#pragma omp parallel if (worker_threads() > 1)
  flush_denormals();
}

Workers::~Workers() {
  omp_set_num_threads(threads_before_);
  Team::of_caller().resize(threads_before_);
  set_floating_point_mode(mode_before_);
}

}  // namespace lethe
