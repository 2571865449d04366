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

struct Help {
  std::int64_t times = 0, moves = 0;  // of workers, to another processor in the middle of a task
};

/// Runs loops on so many workers, while all processors are busy, until there was help fifty times, or for `most`.
Help help_on_a_busy_machine(int workers, std::chrono::seconds most) {
  const Workers team(workers);
  const std::int64_t before = Team::of_caller().times_helped();
  const auto times = [&] { return Team::of_caller().times_helped() - before; };
  std::atomic<bool> enough = false;
  std::vector<std::thread> others;
  for (int i = 0; i < processors(); ++i)
    others.emplace_back([&] {
      while (!enough) continue;
    });
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<std::int64_t> moves = 0;
  while (times() < 50 && std::chrono::steady_clock::now() - begin < most)
    parallel_tasks(100, workers, [&](std::int64_t, int) {
      const int processor = sched_getcpu();
      const auto task = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - task < std::chrono::microseconds(20)) continue;
      if (sched_getcpu() != processor) ++moves;
    });
  enough = true;
  for (std::thread& other : others) other.join();
  return {times(), moves};
}

TEST(Parallel, AWorkerWithoutAProcessorGetsOneOfAWorkerThatWaits) {
  if (processors() < 2) GTEST_SKIP() << "one processor has none to give";
  const Workers as_many(2);  // so that the threads stay
  const std::set<pid_t> threads = threads_of_a_loop(2);
  const std::vector<int> before = processors_of(0);
  const Help help = help_on_a_busy_machine(2, std::chrono::seconds(20));
  EXPECT_GE(help.times, 50);
  EXPECT_GE(help.moves, 4) << "measured 10 to 15; 1 or 2 where nobody is brought anywhere";
  for (const pid_t thread : threads) EXPECT_EQ(processors_of(thread), before) << "it stays where it was sent";
  EXPECT_EQ(threads_of_a_loop(2), threads);
}

TEST(Parallel, NobodyHelpsWhereWorkersShareProcessors) {
  EXPECT_EQ(help_on_a_busy_machine(processors() + 1, std::chrono::seconds(1)).times, 0);
}

}  // namespace
}  // namespace lethe::testing
