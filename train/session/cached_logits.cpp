#include "train/session/cached_logits.h"

#include <algorithm>

#include "train/session/logits.h"

namespace lethe {

CachedLogits::CachedLogits(const DecodeProgram& program, const Planned& planned, Prepared& prepared, Store& store,
                           std::int64_t context)
    : program_(program), context_(context), executor_(planned.program, planned.plan, prepared, store) {}

std::vector<double> CachedLogits::after(std::span<const std::int32_t> symbols) {
  const std::int64_t begin = window_begin(std::ssize(symbols), context_);
  const auto window = symbols.subspan(static_cast<std::size_t>(begin));
  const auto known = begin == begin_ ? std::ranges::mismatch(held_, window).in2 : window.begin();
  begin_ = begin;
  held_.assign(window.begin(), std::min(known, window.end() - 1));  // the last one's logits are wanted
  while (held_.size() < window.size()) {
    feed(window[held_.size()], std::ssize(held_));
    executor_.run();
    held_.push_back(window[held_.size()]);
  }
  return fetch_numbers(executor_, program_.network.program, program_.network.prediction);
}

void CachedLogits::feed(std::int32_t symbol, std::int64_t at) {
  const auto position = static_cast<std::int32_t>(at), seen = position + 1;
  const auto feed_one = [&](VarId var, const auto& value) {
    if (var != kNone) executor_.feed(var, &value, sizeof value);
  };
  feed_one(program_.symbol, symbol);
  feed_one(program_.at, at);
  feed_one(program_.position, position);
  feed_one(program_.seen, seen);
}

}  // namespace lethe
