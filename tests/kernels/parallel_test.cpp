#include "kernels/cpu/parallel.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "kernels/cpu/team.h"
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

/// Where a thread may run.
std::vector<int> processors_of(pid_t thread) {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(thread, sizeof set, &set), 0);
  std::vector<int> may;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(static_cast<std::size_t>(processor), &set)) may.push_back(processor);
  return may;
}

TEST(Parallel, AWorkerWithoutAProcessorGetsOneOfAWorkerThatWaits) {
  if (processors() < 2) GTEST_SKIP() << "one processor has none to give";
  const Workers workers(2);
  const std::set<pid_t> threads = threads_of_a_loop(2);
  const std::vector<int> before = processors_of(0);
  std::atomic<bool> enough = false;
  std::vector<std::thread> others;  // as many as there are processors keep them busy
  for (int i = 0; i < processors(); ++i)
    others.emplace_back([&] {
      while (!enough) continue;
    });
  const auto begin = std::chrono::steady_clock::now();
  while (Team::of_caller().times_helped() < 10 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20))
    parallel_tasks(100, 2, [](std::int64_t, int) {
      const auto task = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - task < std::chrono::microseconds(20)) continue;
    });
  enough = true;
  for (std::thread& other : others) other.join();
  EXPECT_GE(Team::of_caller().times_helped(), 10);
  const auto free = [&](pid_t thread) { return processors_of(thread) == before; };
  bool all_free = false;  // from the next loop on, unless one helps in that one too
  for (int loop = 0; loop < 100 && !all_free; ++loop) {
    EXPECT_EQ(threads_of_a_loop(2), threads);
    all_free = std::all_of(threads.begin(), threads.end(), free);
  }
  EXPECT_TRUE(all_free) << "one stays where it was sent";
}

}  // namespace
}  // namespace lethe::testing
