#include "kernels/cpu/parallel.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
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

void allow(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &set);
  EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

/// Meanwhile the calling thread, and those that it starts, run on two processors alone.
class TwoProcessors {
 public:
  TwoProcessors() : all_(processors_of(0)) {
    if (are_there()) allow({first(), second()});
  }
  ~TwoProcessors() { allow(all_); }
  bool are_there() const { return all_.size() >= 2; }
  int first() const { return all_[0]; }
  int second() const { return all_[1]; }
  /// The calling thread, which may leave it again.
  void go_to(int processor) const { allow({processor}), allow({first(), second()}); }

 private:
  const std::vector<int> all_;
};

/// A thread that wants each processor, as another process would.
class BusyMachine {
 public:
  BusyMachine() {
    for (const int processor : processors_of(0))
      threads_.emplace_back([this, processor] {
        allow({processor});
        while (!over_) continue;
      });
  }
  ~BusyMachine() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

/// Runs loops on so many workers, while all processors are busy, until there was help fifty times, or for `most`.
std::int64_t help_on_a_busy_machine(int workers, std::chrono::seconds most) {
  const Workers team(workers);
  const std::int64_t before = Team::of_caller().times_helped();
  const auto times = [&] { return Team::of_caller().times_helped() - before; };
  const BusyMachine others;
  const auto begin = std::chrono::steady_clock::now();
  while (times() < 50 && std::chrono::steady_clock::now() - begin < most)
    parallel_tasks(100, workers, [&](std::int64_t, int) {
      const auto task = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - task < std::chrono::microseconds(20)) continue;
    });
  return times();
}

TEST(Parallel, AWorkerWithoutAProcessorIsHelpedByOneThatWaits) {
  if (processors() < 2) GTEST_SKIP() << "one processor has none to give";
  const Workers as_many(2);  // so that the threads stay
  const std::set<pid_t> threads = threads_of_a_loop(2);
  const std::vector<int> before = processors_of(0);
  EXPECT_GE(help_on_a_busy_machine(2, std::chrono::seconds(20)), 50);
  for (const pid_t thread : threads) EXPECT_EQ(processors_of(thread), before) << "it stays where it was sent";
  EXPECT_EQ(threads_of_a_loop(2), threads);
}

TEST(Parallel, AWorkerThatDoesNotRunGoesOnWhereAnotherWaits) {
  const TwoProcessors two;
  if (!two.are_there()) GTEST_SKIP() << "one processor has none to give";
  constexpr int kHelped = 20;
  Team team;
  team.resize(2);
  const BusyMachine others;
  std::atomic<int> begun = 0, waiting = 0, finished = 0, where = 0;  // the first three are loops
  std::atomic<bool> over = false;
  std::thread second([&] {
    for (int loop = 1; !over; ++loop) {
      two.go_to(two.second());
      team.begin(1);
      begun = loop;
      while (waiting < loop) continue;
      where = sched_getcpu();
      team.end(1);
      finished = loop;
      finished.notify_one();
    }
  });
  int helped = 0, brought = 0, sent_away = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int loop = 1; !over; ++loop) {
    two.go_to(two.first());
    team.begin(0);
    while (begun < loop) continue;
    const std::int64_t before = team.times_helped();
    team.end(0);
    const bool helps = team.times_helped() > before && sched_getcpu() == two.first();
    over = helped + helps == kHelped || std::chrono::steady_clock::now() - begin > std::chrono::seconds(20);
    waiting = loop;
    finished.wait(loop - 1);
    helped += helps;
    brought += helps && where == two.first();
    sent_away += helps && sched_getcpu() == two.second();
  }
  second.join();
  EXPECT_EQ(helped, kHelped);
  // All of them, but for what the system moves by itself meanwhile.
  EXPECT_GE(brought, kHelped * 3 / 4);
  EXPECT_GE(sent_away, kHelped * 3 / 4);
}

// A worker that was sent away has left when its team ends: it goes where it says by then, as any other thread does.
TEST(Parallel, ATeamThatEndsMovesNobodyElse) {
  const std::vector<int> may = processors_of(0);
  if (may.size() < 2) GTEST_SKIP() << "one processor has none to give";
  auto team = std::make_unique<Team>();
  team->resize(2);
  std::atomic<int> begun = 0, done = 0;  // loops
  std::atomic<bool> over = false, has_left = false, has_ended = false;
  const auto nap = [] { std::this_thread::sleep_for(std::chrono::microseconds(200)); };
  std::vector<int> at_end;
  std::thread worker([&] {
    for (int loop = 1; !over; ++loop) {
      while (begun < loop && !over) nap();
      if (over) break;
      team->begin(1);
      team->end(1);  // helps the other, which sleeps, and is sent away when that has done its part
      done = loop;
    }
    allow({may.front()});
    has_left = true;
    while (!has_ended) nap();
    at_end = processors_of(0);
  });
  for (int loop = 1; loop <= 1000 && team->times_helped() == 0; ++loop) {
    team->begin(0);
    begun = loop;
    while (done < loop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    team->end(0);
  }
  EXPECT_GE(team->times_helped(), 1);
  over = true;
  while (!has_left) nap();
  team.reset();
  has_ended = true;
  worker.join();
  EXPECT_EQ(at_end, std::vector<int>{may.front()});
}

TEST(Parallel, NobodyHelpsWhereWorkersShareProcessors) {
  EXPECT_EQ(help_on_a_busy_machine(processors() + 1, std::chrono::seconds(1)), 0);
}

}  // namespace
}  // namespace lethe::testing
