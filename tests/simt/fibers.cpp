#include "tests/simt/fibers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace lethe::simt {
namespace {

constexpr std::size_t kStackBytes = 128 * 1024;
constexpr unsigned kWarp = 32;

}  // namespace

Block::Fiber::Fiber(unsigned place, void (*entry)()) : place(place), stack(kStackBytes, entry) {}

Block& Block::current() {
  static thread_local Block block;
  return block;
}

void Block::run(unsigned threads, std::size_t shared_bytes, Order order, std::function<void(unsigned)> body) {
  body_ = std::move(body);
  order_ = order;
  threads_ = live_ = threads;
  next_ = arrived_ = 0;
  vote_ = stuck_ = false;
  while (fibers_.size() < threads)
    fibers_.push_back(std::make_unique<Fiber>(static_cast<unsigned>(fibers_.size()), &Block::fiber_main));
  warps_.clear();
  warps_.resize((threads + kWarp - 1) / kWarp);
  shared_.resize(shared_bytes / sizeof(std::max_align_t) + 1);
  std::memset(static_cast<void*>(shared_.data()), 0xFF, shared_.size() * sizeof(std::max_align_t));  // NaN till written
  main_.place = threads - 1;  // the first is the next
  fiber_ = &main_;
  give_way();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Block::fiber_main() { current().take_threads(); }

/// A fiber takes threads of this block and of all that follow; it does not end.
void Block::take_threads() {
  while (true) {
    while (next_ < threads_) {
      const unsigned place = next_++;
      thread_ = order_ == Order::Forward ? place : threads_ - 1 - place;
      try {
        body_(thread_);
      } catch (...) {
        if (!error_) error_ = std::current_exception();
      }
      --live_;
      complete_if_full();
    }
    give_way();
  }
}

bool Block::can_go_on(const Fiber& fiber) const {
  return fiber.awaits ? stuck_ || *fiber.awaits != fiber.round : next_ < threads_;
}

/// The caller of run once all threads have ended. If all that are left wait for each other, each throws, which unwinds
/// its stack.
Block::Fiber& Block::next_in_turn() {
  if (live_ == 0) return main_;
  unsigned place = fiber_->place;
  for (unsigned tried = 0; tried < threads_; ++tried) {
    if (++place >= threads_) place = 0;
    Fiber& fiber = *fibers_[place];
    if (can_go_on(fiber)) return fiber;
  }
  stuck_ = true;
  return next_in_turn();
}

void Block::give_way() {
  Fiber& self = *fiber_;
  const unsigned thread = thread_;
  const uint3 index = threadIdx;
  Fiber& next = next_in_turn();
  fiber_ = &next;
  if (&next != &self) self.stack.leave_for(next.stack);
  thread_ = thread;
  threadIdx = index;
}

/// Until the number of rounds has gone on from `round`.
void Block::wait(const unsigned& rounds, unsigned round) {
  if (rounds != round) return;
  Fiber& self = *fiber_;
  self.awaits = &rounds;
  self.round = round;
  give_way();
  self.awaits = nullptr;
  if (stuck_) throw std::logic_error("simt: threads wait at a barrier that cannot complete");
}

void Block::complete_if_full() {
  if (arrived_ == 0 || arrived_ < live_) return;
  arrived_ = 0;
  ++round_;
  outcome_ = std::exchange(vote_, false);
}

bool Block::meet(bool vote) {
  const unsigned round = round_;
  vote_ |= vote;
  ++arrived_;
  complete_if_full();
  wait(round_, round);
  return outcome_;
}

Block::Meeting& Block::meeting(unsigned mask) {
  const unsigned warp = thread_ / kWarp, lanes = std::min(kWarp, threads_ - warp * kWarp);
  if (lanes < kWarp) mask &= (1u << lanes) - 1;
  if ((mask >> thread_ % kWarp & 1) == 0)
    throw std::logic_error("simt: a lane calls with a mask that does not name it");
  for (const auto& known : warps_[warp])
    if (known->mask == mask) return *known;
  warps_[warp].push_back(std::make_unique<Meeting>(Meeting{.mask = mask}));
  return *warps_[warp].back();
}

/// What all lanes of the meeting brought. It stays while they come to the next, which none leaves before all are there.
const std::array<std::uint64_t, 32>& Block::bring(Meeting& meeting, std::uint64_t word) {
  const unsigned round = meeting.round;
  std::array<std::uint64_t, 32>& words = meeting.words[round % 2];
  words[thread_ % kWarp] = word;
  if (++meeting.arrived == static_cast<unsigned>(std::popcount(meeting.mask))) {
    meeting.arrived = 0;
    ++meeting.round;
  }
  wait(meeting.round, round);
  return words;
}

std::uint64_t Block::exchange(unsigned mask, std::uint64_t word, unsigned from) {
  Meeting& m = meeting(mask);
  const auto& words = bring(m, word);
  return from < kWarp && (m.mask >> from & 1) != 0 ? words[from] : word;
}

unsigned Block::ballot(unsigned mask, bool vote) {
  Meeting& m = meeting(mask);
  const auto& words = bring(m, vote);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < kWarp; ++lane)
    if ((m.mask >> lane & 1) != 0 && words[lane] != 0) votes |= 1u << lane;
  return votes;
}

}  // namespace lethe::simt
