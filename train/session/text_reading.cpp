#include "train/session/text_reading.h"

#include <algorithm>

#include "framework/error.h"
#include "train/session/fed_data.h"
#include "train/session/logits.h"
#include "train/session/next_logits.h"
#include "train/session/programs.h"

namespace lethe {
namespace {

std::int64_t largest_divisor(std::int64_t number, std::int64_t most) {
  while (most > 1 && number % most != 0) --most;
  return most;
}

}  // namespace

/// The network file is built again for windows as short as those of the programs.
std::optional<DecodePrograms> decode_programs(const Network& window, NetworkSetting setting, std::int64_t most,
                                              std::string* why_none) {
  DecodePrograms programs{.context = context_of(window)};
  const auto none = [&](const std::string& why) -> std::optional<DecodePrograms> {
    if (why_none) *why_none = why;
    return std::nullopt;
  };
  if (programs.context < 2) return none("a window of one symbol");
  programs.block = largest_divisor(programs.context, std::min(most, programs.context - 1));
  std::string why = "it looks back by more than causal attention";
  const auto of = [&](std::int64_t rows) -> std::optional<DecodeProgram> {
    setting.sets[kContextVar] = std::to_string(rows);
    try {
      return decode_program(window, build_network(setting, false), sample_and_labels(window).samples, programs.block);
    } catch (const Error& error) {  // no such var, or no network of so short a window
      why = error.what();
      return std::nullopt;
    }
  };
  std::optional<DecodeProgram> next = of(1);
  if (!next) return none(why);
  programs.next = std::move(*next);
  if (programs.block > 1) programs.fill = of(programs.block);
  return programs;
}

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
  fed_.resize(static_cast<std::size_t>(program.rows));  // what stands after them is written over before it is seen
  executor.feed(program.symbols, fed_.data(), program.rows * bytes_of(DType::i32));
  feed(program.block, block);
  feed(program.row, row);
  feed(program.position, position);
  feed(program.seen, seen);
  executor.run();
  held_.insert(held_.end(), symbols.begin(), symbols.end());
}

TextReading::TextReading(const ProgramSetting& setting, bool cached, Prepared& prepared)
    : network_(build_network(setting.network, false)), context_(context_of(network_)) {
  if (cached) programs_ = decode_programs(network_, setting.network, kReadAtOnce, &why_no_cache_);
  if (programs_)
    cached_ = plan_decode(*programs_, setting.memory, prepared);
  else
    whole_ = plan_evaluation(network_, setting.memory, prepared);
}

std::int64_t TextReading::reserved(std::int64_t alignment) const {
  if (!programs_) return reserved_bytes({&whole_}, 0, alignment);
  std::vector<const Planned*> planned = {&cached_.next};
  if (cached_.fill) planned.push_back(&*cached_.fill);
  return reserved_bytes(planned, cached_.together.arena, alignment);
}

std::unique_ptr<NextLogits> TextReading::begin(Prepared& prepared, Store& store) const {
  if (programs_) return std::make_unique<CachedLogits>(*programs_, cached_, prepared, store);
  return std::make_unique<WindowLogits>(network_, whole_, prepared, store);
}

}  // namespace lethe
