#include "kernels/cpu/parallel.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <mutex>
#include <set>

#include "kernels/cpu/workers.h"

namespace lethe::testing {
namespace {

/// The system's numbers of the threads that a loop of so many pieces runs on; a number is not soon used again.
std::set<pid_t> threads_of_a_loop(std::int64_t pieces) {
  std::mutex mutex;
  std::set<pid_t> threads;
  parallel_ranges(pieces, 1, [&](std::int64_t, std::int64_t) {
    const std::lock_guard<std::mutex> lock(mutex);
    threads.insert(gettid());
  });
  return threads;
}

TEST(Parallel, ThreadsOfALargeLoopOutliveASmallOne) {
  const Workers workers(4);
  const std::set<pid_t> threads = threads_of_a_loop(4);
  EXPECT_EQ(threads.size(), 4U);
  for (const std::int64_t pieces : {1, 2, 3})
    EXPECT_EQ(threads_of_a_loop(pieces).size(), static_cast<std::size_t>(pieces));
  EXPECT_EQ(threads_of_a_loop(4), threads);
}

}  // namespace
}  // namespace lethe::testing
