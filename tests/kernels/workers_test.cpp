// Threads and floating-point mode of what computes, and of what does not.
#include "kernels/cpu/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "kernels/cpu/device.h"
#include "kernels/cpu/parallel.h"

namespace lethe::testing {
namespace {

constexpr int kThreads = 3;

TEST(Workers, AreOfTheThreadThatAsksForThem) {
  std::latch both(2);
  const auto ask = [&](int threads) {
    const int before = worker_threads();
    {
      const Workers workers(threads);
      both.arrive_and_wait();
      EXPECT_EQ(worker_threads(), threads);
    }
    EXPECT_EQ(worker_threads(), before);
  };
  std::thread first(ask, 1), second(ask, kThreads);
  first.join();
  second.join();
}

#if defined(__SSE2__)
bool flushes() {
  const volatile float tiny = 1e-40F;
  return tiny * 1.0F == 0;
}

/// How many of a loop's threads flush denormals, before they forget to.
int flushing_threads() {
  std::atomic<int> count = 0;
  parallel_ranges(kThreads, 1, [&](std::int64_t, std::int64_t) {
    count += flushes();
    _mm_setcsr(_mm_getcsr() & ~(_MM_FLUSH_ZERO_MASK | 0x40U));
  });
  return count;
}

TEST(Workers, FlushDenormalsInTheTeamOfEachThreadWhateverItDidBefore) {
  const std::unique_ptr<Device> device = open_cpu(kThreads);
  const auto compute = [&] {
    for (int time = 0; time < 2; ++time) {
      int flushing = 0;
      device->compute([&] { flushing = flushing_threads(); });
      EXPECT_EQ(flushing, kThreads) << "time " << time;
    }
  };
  compute();
  std::thread(compute).join();
}

TEST(Workers, LeaveTheModeOfTheThreadAsItWas) {
  std::thread([] {
    EXPECT_FALSE(flushes());
    const std::unique_ptr<Device> device = open_cpu(kThreads);
    EXPECT_FALSE(flushes()) << "a device that is open computes nothing";
    device->compute([] { EXPECT_TRUE(flushes()); });
    EXPECT_FALSE(flushes());
    EXPECT_THROW(device->compute([] { throw 1; }), int);
    EXPECT_FALSE(flushes());
  }).join();
}
#endif

}  // namespace
}  // namespace lethe::testing
