// Text symbol by symbol, by programs with a cache.
#pragma once
#include "train/session/decode_programs.h"
#include "train/session/next_logits.h"

namespace lethe {

/// Both programs, which run in turn.
struct DecodePlans {
  Planned next = {};
  std::optional<Planned> fill = {};
  Together together = {};
};
DecodePlans plan_decode(const DecodePrograms& programs, const MemorySetting& memory, Prepared& prepared);

/// Reads what the cache does not hold yet: the last symbol alone, and before that a prompt, or half a window when it
/// moves on, in blocks, where many symbols are left.
class CachedLogits final : public NextLogits {
 public:
  /// All must outlive it. `plans` are of the programs, and keep the prediction.
  CachedLogits(const DecodePrograms& programs, const DecodePlans& plans, Prepared& prepared, Store& store);
  std::vector<double> after(std::span<const std::int32_t> symbols) override;

 private:
  /// The symbols behind those held, as many as the program reads or fewer.
  void read(const DecodeProgram& program, Executor& executor, std::span<const std::int32_t> symbols);
  /// How many of the symbols that are left, the last of which is for `next`, one run of `fill` takes best; 0: none.
  std::int64_t filled_at_once(std::int64_t left) const;

  const DecodePrograms& programs_;
  std::int64_t begin_ = 0;
  std::vector<std::int32_t> held_ = {};  // symbols from `begin_` on that the cache knows
  std::vector<std::int32_t> fed_ = {};
  Buffer arena_;  // of both, if their plans have one
  Executor next_;
  std::optional<Executor> fill_;
};

}  // namespace lethe
