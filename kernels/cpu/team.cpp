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

/// A worker that waits looks at the others so often and so many times; one that used no time between two looks does
/// not run.
constexpr Clock::duration kLook = 10us;
constexpr int kLooks = 10;

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
  bool hold(pid_t thread) const { return CPU_COUNT(&set_) > 0 && sched_setaffinity(thread, sizeof set_, &set_) == 0; }

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
  std::atomic<int> processor = 0;   // where it began its part
  std::atomic<unsigned> loops = 0;  // whose parts it has done
  std::atomic<Seat*> helper = nullptr;
  std::atomic<std::int64_t> helped = 0;  // how often it was a helper

  // Of a helper: where it shall go, and where it might run before it was sent there.
  int destination = 0;
  Processors before = Processors::only(0);
  std::atomic<bool> sent = false;

  bool done(unsigned loop) const { return static_cast<int>(loops.load(std::memory_order_acquire) - loop) >= 0; }

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

  /// Waits for the other's part of the loop. Whether that does not run.
  bool waits_in_vain(const Seat& other, unsigned loop) const {
    if (other.thread.load(std::memory_order_acquire) == 0) return false;
    std::int64_t used = -1;
    Clock::time_point last = Clock::now();
    for (int looks = 0; looks < kLooks && !other.done(loop);) {
      if (Clock::now() - last < kLook) continue;
      const std::int64_t before_look = used;
      used = time_used(other.clock.load(std::memory_order_relaxed));
      if (used >= 0 && used == before_look) return true;
      last = Clock::now();
      ++looks;
    }
    return false;
  }

  /// Brings the other here, where this worker is about to sleep. The other sends it away when it has done its part:
  /// a thread that were sent now would have to run there before it could sleep.
  void help(Seat& other, std::mutex& moving) {
    Seat* nobody = nullptr;
    const int here = sched_getcpu();
    destination = other.processor.load(std::memory_order_relaxed);
    if (!other.helper.compare_exchange_strong(nobody, this, std::memory_order_acq_rel)) return;
    helped.fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard<std::mutex> lock(moving);
    const pid_t it = other.thread.load(std::memory_order_relaxed);
    const Processors its = other.sent ? other.before : Processors::of(it);
    if (destination != here && its.has(here) && Processors::only(here).hold(it)) its.hold(it);
  }

  /// Sends the worker that has helped this one to where this one was, or, if both were in one place, elsewhere: it
  /// would wake up where this one runs now.
  void thank(unsigned loop, std::mutex& moving) {
    Seat* const it = helper.exchange(nullptr, std::memory_order_acq_rel);
    if (!it || !it->done(loop)) return;
    const std::lock_guard<std::mutex> lock(moving);
    if (it->sent) return;
    const int here = sched_getcpu();
    const pid_t its_thread = it->thread.load(std::memory_order_relaxed);
    it->before = Processors::of(its_thread);
    it->sent = it->destination == here
                   ? it->before.without(here).hold(its_thread)
                   : it->before.has(it->destination) && Processors::only(it->destination).hold(its_thread);
  }

  /// From where it was sent it may go wherever it might before.
  void move_freely(std::mutex& moving) {
    if (!sent) return;
    const std::lock_guard<std::mutex> lock(moving);
    before.hold(thread.load(std::memory_order_relaxed));
    sent = false;
  }
};

void Team::resize(int workers) {
  if (workers == workers_) return;
  for (int worker = 0; seats_ && worker < workers_; ++worker) seats_[worker].move_freely(moving_);
  workers_ = workers;
  seats_.reset(workers > 1 ? new Seat[static_cast<std::size_t>(workers)] : nullptr);
}

void Team::begin(int worker) {
  if (!seats_) return;
  seats_[worker].move_freely(moving_);
  seats_[worker].take();
}

void Team::end(int worker) {
  if (!seats_) return;
  Seat& own = seats_[worker];
  const unsigned loop = own.loops.load(std::memory_order_relaxed) + 1;
  own.loops.store(loop, std::memory_order_release);
  own.thank(loop, moving_);
  for (int other = 0; other < workers_; ++other)
    if (other != worker && own.waits_in_vain(seats_[other], loop)) return own.help(seats_[other], moving_);
}

void Team::over() {
  if (seats_) seats_[0].move_freely(moving_);
}

std::int64_t Team::times_helped() const {
  std::int64_t times = 0;
  for (int worker = 0; seats_ && worker < workers_; ++worker) times += seats_[worker].helped;
  return times;
}

#else

struct Team::Seat {};
void Team::resize(int workers) { workers_ = workers; }
void Team::begin(int) {}
void Team::end(int) {}
void Team::over() {}
std::int64_t Team::times_helped() const { return 0; }

#endif

Team::Team() = default;
Team::~Team() { resize(0); }

}  // namespace lethe
