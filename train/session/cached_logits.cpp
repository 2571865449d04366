#include "train/session/cached_logits.h"

#include <algorithm>

#include "framework/error.h"
#include "train/session/logits.h"

namespace lethe {

DecodePlans plan_decode(const DecodePrograms& programs, const MemorySetting& memory, Prepared& prepared) {
  DecodePlans plans{.next = plan_evaluation(programs.next.network, memory, prepared)};
  if (programs.fill) plans.fill = plan_evaluation(programs.fill->network, memory, prepared);
  plans.together = held_together(plans.next, plans.fill.value_or(Planned{}));
  return plans;
}

CachedLogits::CachedLogits(const DecodePrograms& programs, const DecodePlans& plans, Prepared& prepared, Store& store)
    : programs_(programs),
      arena_(with_context("the arena", [&] { return Buffer(store.device(), plans.together.arena); })),
      next_(plans.next.program, plans.next.plan, prepared, store, arena_.bytes() > 0 ? &arena_ : nullptr) {
  Buffer* const arena = arena_.bytes() > 0 ? &arena_ : nullptr;
  if (plans.fill) fill_.emplace(plans.fill->program, plans.fill->plan, prepared, store, arena);
}

std::vector<double> CachedLogits::after(std::span<const std::int32_t> symbols) {
  const std::int64_t begin = window_begin(std::ssize(symbols), programs_.context);
  const auto window = symbols.subspan(static_cast<std::size_t>(begin));
  const auto known = begin == begin_ ? std::ranges::mismatch(held_, window).in2 : window.begin();
  begin_ = begin;
  held_.assign(window.begin(), std::min(known, window.end() - 1));  // the last one's logits are wanted
  while (held_.size() < window.size()) {
    const auto left = window.subspan(held_.size());
    if (const std::int64_t filled = filled_at_once(std::ssize(left)); filled > 0)
      read(*programs_.fill, *fill_, left.first(static_cast<std::size_t>(filled)));
    else
      read(programs_.next, next_, left.first(1));
  }
  return fetch_numbers(next_, programs_.next.network.program, programs_.next.network.prediction);
}

std::int64_t CachedLogits::filled_at_once(std::int64_t left) const {
  constexpr std::int64_t kWorth = 8;  // of a block: a run of all its rows takes longer than so many of one
  const std::int64_t filled = std::min(left - 1, programs_.block);
  const bool at_border = std::ssize(held_) % programs_.block == 0;
  return fill_ && at_border && filled * kWorth >= programs_.block ? filled : 0;
}

void CachedLogits::read(const DecodeProgram& program, Executor& executor, std::span<const std::int32_t> symbols) {
  const auto feed = [&](VarId var, const auto& value) {
    if (var != kNone) executor.feed(var, &value, sizeof value);
  };
  const std::int64_t at = std::ssize(held_), block = at / programs_.block, row = at % programs_.block;
  const auto position = static_cast<std::int32_t>(at), seen = static_cast<std::int32_t>(at + program.rows);
  fed_.assign(symbols.begin(), symbols.end());
  fed_.resize(static_cast<std::size_t>(program.rows));  // what stands behind them is written over before it is seen
  executor.feed(program.symbols, fed_.data(), program.rows * bytes_of(DType::i32));
  feed(program.block, block);
  feed(program.row, row);
  feed(program.position, position);
  feed(program.seen, seen);
  executor.run();
  held_.insert(held_.end(), symbols.begin(), symbols.end());
}

}  // namespace lethe
