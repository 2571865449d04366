#include "tests/simt/fibers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace lethe::simt {
namespace {

constexpr std::size_t kStackBytes = 128 * 1024;
constexpr unsigned kWarp = 32;

// AddressSanitizer must hear of every switch of stacks; without it these are nothing.
void leaving([[maybe_unused]] void** fake, [[maybe_unused]] const void* to, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(fake, to, bytes);
#endif
}
void arrived([[maybe_unused]] void* fake, [[maybe_unused]] const void** from, [[maybe_unused]] std::size_t* bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, from, bytes);
#endif
}

}  // namespace

Block& Block::current() {
  static Block block;
  return block;
}

void Block::run(unsigned threads, std::size_t shared_bytes, Order order, std::function<void(unsigned)> body) {
  body_ = std::move(body);
  order_ = order;
  threads_ = live_ = threads;
  next_ = arrived_ = 0;
  vote_ = stuck_ = false;
  if (fibers_.size() < threads) fibers_.resize(threads);
  for (Fiber& fiber : fibers_) fiber.started = fiber.done = false;
  warps_.clear();
  warps_.resize((threads + kWarp - 1) / kWarp);
  shared_.resize(shared_bytes / sizeof(std::max_align_t) + 1);
  std::memset(static_cast<void*>(shared_.data()), 0xFF, shared_.size() * sizeof(std::max_align_t));  // NaN till written
  while (live_ > 0) {
    const unsigned before = progress_;
    for (Fiber& fiber : fibers_)
      if (fiber.started ? !fiber.done : next_ < threads_) resume(fiber);
    stuck_ = progress_ == before;  // then every waiting thread throws, which unwinds its stack
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Block::resume(Fiber& fiber) {
  fiber_ = &fiber;
  if (!fiber.started) {
    fiber.started = true;
    if (!fiber.stack) fiber.stack = std::make_unique<std::byte[]>(kStackBytes);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, &Block::fiber_main, 0);
  }
  void* fake = nullptr;
  leaving(&fake, fiber.stack.get(), kStackBytes);
  swapcontext(&scheduler_, &fiber.context);
  arrived(fake, nullptr, nullptr);
}

void Block::fiber_main() {
  Block& block = current();
  block.entered(nullptr);
  block.take_threads();
}

void Block::entered(void* fake_stack) { arrived(fake_stack, &scheduler_stack_, &scheduler_stack_bytes_); }

void Block::take_threads() {
  Fiber& self = *fiber_;
  while (next_ < threads_) {
    const unsigned place = next_++;
    thread_ = order_ == Order::Forward ? place : threads_ - 1 - place;
    try {
      body_(thread_);
    } catch (...) {
      if (!error_) error_ = std::current_exception();
    }
    --live_;
    ++progress_;
    complete_if_full();
  }
  self.done = true;
  switch_to_scheduler(self);
}

void Block::switch_to_scheduler(Fiber& fiber) {
  void* fake = nullptr;
  leaving(fiber.done ? nullptr : &fake, scheduler_stack_, scheduler_stack_bytes_);
  swapcontext(&fiber.context, &scheduler_);
  entered(fake);
}

void Block::give_way() {
  Fiber& self = *fiber_;
  const unsigned thread = thread_;
  const uint3 index = threadIdx;
  switch_to_scheduler(self);
  fiber_ = &self;
  thread_ = thread;
  threadIdx = index;
  if (stuck_) throw std::logic_error("simt: threads wait at a barrier that cannot complete");
}

void Block::complete_if_full() {
  if (arrived_ == 0 || arrived_ < live_) return;
  arrived_ = 0;
  ++round_;
  ++progress_;
  outcome_ = std::exchange(vote_, false);
}

bool Block::meet(bool vote) {
  const unsigned round = round_;
  vote_ |= vote;
  ++arrived_;
  ++progress_;
  complete_if_full();
  while (round == round_) give_way();
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

void Block::wait(Meeting& meeting) {
  const unsigned round = meeting.round;
  ++progress_;
  if (++meeting.arrived == static_cast<unsigned>(std::popcount(meeting.mask))) {
    meeting.arrived = 0;
    ++meeting.round;
  }
  while (round == meeting.round) give_way();
}

std::uint64_t Block::exchange(unsigned mask, std::uint64_t word, unsigned from) {
  Meeting& m = meeting(mask);
  m.words[thread_ % kWarp] = word;
  wait(m);
  const std::uint64_t given = from < kWarp && (m.mask >> from & 1) != 0 ? m.words[from] : word;
  wait(m);  // nobody brings the next word before all have read this one
  return given;
}

unsigned Block::ballot(unsigned mask, bool vote) {
  Meeting& m = meeting(mask);
  m.words[thread_ % kWarp] = vote;
  wait(m);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < kWarp; ++lane)
    if ((m.mask >> lane & 1) != 0 && m.words[lane] != 0) votes |= 1u << lane;
  wait(m);
  return votes;
}

}  // namespace lethe::simt
