#include "kernels/cpu/team.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>
#endif
#include <atomic>
#include <chrono>

namespace lethe {

Team& Team::of_caller() {
  static thread_local Team team;
  return team;
}

#if defined(__linux__)
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// How long a worker waits for the others, and how often it looks at them meanwhile: one that used no time between two
/// looks does not run.
constexpr Clock::duration kWait = 100us, kLook = 10us;
constexpr int kElsewhere = -1;  // than here, in place of a processor

/// Where a thread may run, which the user may have restricted. Nothing changes where the system refuses.
class Processors {
 public:
  static Processors only(int processor) {
    Processors one;
    CPU_SET(static_cast<std::size_t>(processor), &one.set_);
    return one;
  }
  static Processors of(pid_t thread) {
    Processors own;
    if (sched_getaffinity(thread, sizeof own.set_, &own.set_) != 0) CPU_ZERO(&own.set_);
    return own;
  }
  Processors without(int processor) const {
    Processors others = *this;
    CPU_CLR(static_cast<std::size_t>(processor), &others.set_);
    return others;
  }
  bool has(int processor) const { return CPU_ISSET(static_cast<std::size_t>(processor), &set_); }
  int count() const { return CPU_COUNT(&set_); }
  bool apply_to(pid_t thread) const { return count() > 0 && sched_setaffinity(thread, sizeof set_, &set_) == 0; }

 private:
  Processors() { CPU_ZERO(&set_); }
  cpu_set_t set_;
};

/// Processor time that a thread has used, in nanoseconds.
std::int64_t time_used(clockid_t clock) {
  timespec used = {};
  return clock_gettime(clock, &used) == 0 ? used.tv_sec * std::int64_t{1000000000} + used.tv_nsec : -1;
}

}  // namespace

/// What the others know of a worker.
struct alignas(64) Team::Seat {
  std::atomic<pid_t> thread = 0;  // 0: it has not worked yet
  std::atomic<clockid_t> clock = 0;
  std::atomic<int> processor = 0;   // where it began its part, or was sent since
  std::atomic<unsigned> loops = 0;  // whose parts it has done
  std::atomic<Seat*> helper = nullptr;

  // Of a helper: in which loop, where it shall go, and where it might run before it was sent there. Behind the mutex.
  unsigned helped_in = 0;
  int destination = 0;
  Processors before = Processors::only(0);
  std::atomic<bool> sent = false;

  bool done(unsigned loop) const { return static_cast<int>(loops.load(std::memory_order_acquire) - loop) >= 0; }

  /// Another thread may take it, in a team of another size.
  void leave() {
    thread = 0;
    loops = 0;
    helper = nullptr;
  }

  /// The calling thread is this worker, here.
  void take() {
    static thread_local const pid_t own_thread = gettid();
    static thread_local const clockid_t own_clock = [] {
      clockid_t own = 0;
      return pthread_getcpuclockid(pthread_self(), &own) == 0 ? own : 0;
    }();
    clock.store(own_clock, std::memory_order_relaxed);
    processor.store(sched_getcpu(), std::memory_order_relaxed);
    thread.store(own_thread, std::memory_order_release);
  }

  /// Waits for this one's part of the loop. Whether it is found not to run.
  bool stands_still(unsigned loop, Clock::time_point give_up) const {
    if (thread.load(std::memory_order_acquire) == 0) return false;
    std::int64_t used = -1;
    Clock::time_point last = Clock::now();
    while (!done(loop)) {
      const Clock::time_point now = Clock::now();
      if (now >= give_up) return false;
      if (now - last < kLook) continue;
      const std::int64_t before_look = used;
      used = time_used(clock.load(std::memory_order_relaxed));
      if (used >= 0 && used == before_look) return true;
      last = now;
    }
    return false;
  }

  /// Brings the other here, where this worker is about to sleep; false if that cannot be. The other sends it away when
  /// it has done its part: a thread sent now would have to run there before it could sleep.
  bool help(Seat& other, unsigned loop) {
    if (other.done(loop) || other.helper.load()) return false;
    const int here = sched_getcpu(), there = other.processor.load(std::memory_order_relaxed);
    const pid_t it = other.thread.load(std::memory_order_relaxed);
    const Processors its = other.sent ? other.before : Processors::of(it);
    if (!its.has(here)) return false;
    if (there != here || other.sent) {
      if (!Processors::only(here).apply_to(it)) return false;
      its.apply_to(it);
      other.sent = false;
    }
    destination = there == here ? kElsewhere : there;
    helped_in = loop;
    other.helper.store(this);
    return true;
  }

  /// Sends the worker that has helped this one to where this one was, or, if both were in one place, elsewhere: it
  /// would wake up where this one runs now.
  void send_helper_away(unsigned loop) {
    Seat* const it = helper.exchange(nullptr);
    if (!it || it->helped_in != loop || it->sent) return;
    const int here = sched_getcpu();
    const pid_t its_thread = it->thread.load(std::memory_order_relaxed);
    it->before = Processors::of(its_thread);
    const bool anywhere_else = it->destination == kElsewhere || it->destination == here;
    if (!anywhere_else && !it->before.has(it->destination)) return;
    const Processors there = anywhere_else ? it->before.without(here) : Processors::only(it->destination);
    it->sent = there.apply_to(its_thread);
    if (it->sent && !anywhere_else) it->processor.store(it->destination, std::memory_order_relaxed);
  }

  /// From where it was sent it may go wherever it might before.
  void move_freely() {
    if (!sent) return;
    before.apply_to(thread.load(std::memory_order_relaxed));
    sent = false;
  }
};

void Team::release() {
  const std::lock_guard<std::mutex> lock(moving_);
  for (int worker = 0; may_help_ && worker < workers_; ++worker) seats_[worker].move_freely();
}

void Team::resize(int workers) {
  release();
  if (workers == workers_) return;
  workers_ = workers;
  may_help_ = workers > 1 && workers <= Processors::of(0).count();
  if (!may_help_) return;
  if (workers > most_seats_) seats_.reset(new Seat[static_cast<std::size_t>(most_seats_ = workers)]);
  for (int worker = 0; worker < workers; ++worker) seats_[worker].leave();
}

void Team::begin(int worker) {
  if (!may_help_) return;
  Seat& own = seats_[worker];
  if (own.sent) {
    const std::lock_guard<std::mutex> lock(moving_);
    own.move_freely();
  }
  own.take();
}

void Team::end(int worker) {
  if (!may_help_) return;
  Seat& own = seats_[worker];
  const unsigned loop = own.loops.load(std::memory_order_relaxed) + 1;
  own.loops.store(loop, std::memory_order_release);
  if (own.helper.load()) {
    const std::lock_guard<std::mutex> lock(moving_);
    own.send_helper_away(loop);
  }
  const Clock::time_point give_up = Clock::now() + kWait;
  for (int i = 1; i < workers_; ++i) {
    Seat& other = seats_[(worker + i) % workers_];
    if (!other.stands_still(loop, give_up)) continue;
    const std::lock_guard<std::mutex> lock(moving_);
    if (!own.help(other, loop)) continue;
    ++times_helped_;
    return;
  }
}

void Team::over() {
  if (!may_help_ || !seats_[0].sent) return;
  const std::lock_guard<std::mutex> lock(moving_);
  seats_[0].move_freely();
}

/// Other workers may have ended, and their numbers may be those of other threads by now.
Team::~Team() {
  const std::lock_guard<std::mutex> lock(moving_);
  for (int worker = 0; may_help_ && worker < workers_; ++worker)
    if (seats_[worker].thread == gettid()) seats_[worker].move_freely();
}

#else

struct Team::Seat {};
void Team::release() {}
void Team::resize(int workers) { workers_ = workers; }
void Team::begin(int) {}
void Team::end(int) {}
void Team::over() {}
Team::~Team() = default;

#endif

Team::Team() = default;

}  // namespace lethe
