#include "kernels/cpu/parallel.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

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

TEST(Parallel, EachTaskIsDoneOnceAndAWorkerDoesOneAtATime) {
  const Workers team(3);
  for (const int workers : {1, 2, 3, 7})
    for (const std::size_t tasks : {0, 1, 2, 3, 200}) {
      std::vector<std::atomic<int>> done(tasks), busy(static_cast<std::size_t>(workers));
      std::atomic<int> met = 0;
      parallel_tasks(static_cast<std::int64_t>(tasks), workers, [&](std::int64_t task, int worker) {
        std::atomic<int>& now = busy.at(static_cast<std::size_t>(worker));
        if (now++ > 0) ++met;
        sched_yield();
        ++done[static_cast<std::size_t>(task)];
        --now;
      });
      EXPECT_EQ(met, 0);
      for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
    }
}

}  // namespace
}  // namespace lethe::testing
