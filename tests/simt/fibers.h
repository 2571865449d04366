// The threads of one CUDA block on the host: fibers that give way at barriers only, so a run is deterministic and a
// sanitizer sees every access. Threads that meet no barrier run one after the other on one fiber.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "tests/simt/stack.h"

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
  /// The block whose threads run now, one at a time. Each thread of the host has one, as a fiber belongs to the thread
  /// that made it, but no two may run kernels at once: threadIdx and its like are the program's.
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
    Fiber() = default;  // the one that calls run
    Fiber(unsigned place, void (*entry)());

    unsigned place = 0;  // in fibers_
    Stack stack;
    const unsigned* awaits = nullptr;  // while it waits: a round to end
    unsigned round = 0;                // the number of that round
  };
  struct Meeting {  // of lanes of one warp
    unsigned mask = 0;
    unsigned arrived = 0, round = 0;                          // lanes here; times it was complete
    std::array<std::array<std::uint64_t, 32>, 2> words = {};  // of this round and of the one before
  };

  static void fiber_main();
  void take_threads();
  void give_way();
  Fiber& next_in_turn();
  bool can_go_on(const Fiber& fiber) const;
  void wait(const unsigned& rounds, unsigned round);
  void complete_if_full();
  Meeting& meeting(unsigned mask);
  const std::array<std::uint64_t, 32>& bring(Meeting& meeting, std::uint64_t word);

  std::function<void(unsigned)> body_;
  Fiber main_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<std::vector<std::unique_ptr<Meeting>>> warps_;
  std::vector<std::max_align_t> shared_;
  std::exception_ptr error_;
  Fiber* fiber_ = nullptr;  // whose turn it is
  Order order_ = Order::Forward;
  unsigned threads_ = 0, thread_ = 0, next_ = 0, live_ = 0;
  unsigned arrived_ = 0, round_ = 0;
  bool vote_ = false, outcome_ = false, stuck_ = false;
};

}  // namespace lethe::simt
