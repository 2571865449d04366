// The workers of a thread's loops, who wait for each other: one that has done its part gives its processor to one that
// another process keeps off its own, and goes there instead.
//
// A loop ends with its slowest worker. On a busy machine the system takes a worker off its processor for some
// milliseconds, longer than most loops are, and does not bring it to the processor that another worker has left: it
// thinks a thread that has just run better left where it is.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>

namespace lethe {

/// On systems other than Linux nothing is done.
class Team {
 public:
  Team();
  ~Team();
  /// That of the calling thread, which is worker 0 itself.
  static Team& of_caller();

  /// 0 at first.
  int workers() const { return workers_; }
  void resize(int workers);

  /// Each worker says when it begins its part of a loop, and when it has done it: then it waits a tenth of a
  /// millisecond for the others, and helps one that does not run.
  void begin(int worker);
  void end(int worker);
  /// The calling thread says when a loop is over.
  void over();

  /// How many times a worker has given its processor away.
  std::int64_t times_helped() const;

 private:
  struct Seat;

  int workers_ = 0;
  std::unique_ptr<Seat[]> seats_;  // one a worker; none if there is nobody to wait for
  std::mutex moving_;              // held by who changes where a worker may run
};

}  // namespace lethe
