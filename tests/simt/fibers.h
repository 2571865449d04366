// The threads of one CUDA block on the host: fibers that give way at barriers only, so a run is deterministic and a
// sanitizer sees every access. Threads that meet no barrier run one after the other on one fiber.
#pragma once
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

struct uint3 {
  unsigned x = 0, y = 0, z = 0;
};
/// The index of the thread whose turn it is.
inline uint3 threadIdx;

namespace lethe::simt {

/// In which order the blocks of a grid and the threads of a block start. A kernel that lacks a barrier gives another
/// result in one of the two.
enum class Order { Forward, Reverse };

class Block {
 public:
  /// The block whose threads run now, one at a time.
  static Block& current();

  /// Runs `body(thread)` for each thread. Throws what a thread threw, or std::logic_error if barriers cannot complete:
  /// some of the threads that they name have ended or wait elsewhere.
  void run(unsigned threads, std::size_t shared_bytes, Order order, std::function<void(unsigned)> body);

  /// Called by a thread. All threads that have not ended meet; gives whether any of them brought true.
  bool meet(bool vote);
  /// The lanes of this warp that `mask` names meet; gives what lane `from` brought (the caller's own word if `mask`
  /// does not name it).
  std::uint64_t exchange(unsigned mask, std::uint64_t word, unsigned from);
  /// The same lanes meet; bit i says whether lane i brought true.
  unsigned ballot(unsigned mask, bool vote);

  unsigned thread() const { return thread_; }
  void* shared() { return shared_.data(); }

 private:
  struct Fiber {
    ucontext_t context = {};
    std::unique_ptr<std::byte[]> stack = {};
    bool started = false, done = false;
  };
  struct Meeting {  // of lanes of one warp
    unsigned mask = 0;
    unsigned arrived = 0, round = 0;  // lanes here; times it was complete
    std::array<std::uint64_t, 32> words = {};
  };

  static void fiber_main();
  void take_threads();
  void resume(Fiber& fiber);
  void give_way();
  void switch_to_scheduler(Fiber& fiber);
  void entered(void* fake_stack);
  void complete_if_full();
  Meeting& meeting(unsigned mask);
  void wait(Meeting& meeting);

  std::function<void(unsigned)> body_;
  std::vector<Fiber> fibers_;
  std::vector<std::vector<std::unique_ptr<Meeting>>> warps_;
  std::vector<std::max_align_t> shared_;
  std::exception_ptr error_;
  ucontext_t scheduler_ = {};
  const void* scheduler_stack_ = nullptr;
  std::size_t scheduler_stack_bytes_ = 0;
  Fiber* fiber_ = nullptr;
  Order order_ = Order::Forward;
  unsigned threads_ = 0, thread_ = 0, next_ = 0, live_ = 0;
  unsigned arrived_ = 0, round_ = 0, progress_ = 0;
  bool vote_ = false, outcome_ = false, stuck_ = false;
};

}  // namespace lethe::simt
