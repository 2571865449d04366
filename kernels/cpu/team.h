// The workers of a thread's loops, who wait for each other: one that has done its part gives its processor to one that
// another process keeps off its own, and goes there instead.
//
// A loop ends with its slowest worker. On a busy machine the system takes a worker off its processor for some
// milliseconds, longer than most loops are, and does not bring it to the processor that another worker has left: it
// leaves a thread where that has just run. The help assumes that workers who wait go to sleep soon.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace lethe {

/// Nothing is done for more workers than processors, and on systems other than Linux.
class Team {
 public:
  Team();
  ~Team();
  /// That of the calling thread, which is worker 0 itself.
  static Team& of_caller();

  /// 0 at first.
  int workers() const { return workers_; }
  /// Between loops. Whoever was sent somewhere may go anywhere again.
  void resize(int workers);

  /// Each worker says when it begins its part of a loop, and when it has done it: then it waits a tenth of a
  /// millisecond for the others, and helps one that does not run. Where it is sent for that it stays until it begins
  /// its part of another loop, or the team changes its size.
  void begin(int worker);
  void end(int worker);
  /// The calling thread says when a loop is over.
  void over();

  /// How many times a worker has given its processor away.
  std::int64_t times_helped() const { return times_helped_; }

 private:
  struct Seat;
  void release();

  int workers_ = 0;
  bool may_help_ = false;
  std::unique_ptr<Seat[]> seats_;  // one a worker; kept when the team becomes smaller, for a step allocates nothing
  int most_seats_ = 0;
  std::atomic<std::int64_t> times_helped_ = 0;
  std::mutex moving_;  // held by who changes where a worker may run
};

}  // namespace lethe
