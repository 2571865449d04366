// Text symbol by symbol, by a program with a cache.
#pragma once
#include "train/session/decode_program.h"
#include "train/session/next_logits.h"

namespace lethe {

/// Runs the program once for each symbol that the cache does not hold yet: for the last one alone, and for half a
/// window when it moves on.
class CachedLogits final : public NextLogits {
 public:
  /// All must outlive it. `planned` is of the program, and keeps its prediction; the cache holds `context` symbols.
  CachedLogits(const DecodeProgram& program, const Planned& planned, Prepared& prepared, Store& store,
               std::int64_t context);
  std::vector<double> after(std::span<const std::int32_t> symbols) override;

 private:
  void feed(std::int32_t symbol, std::int64_t at);

  const DecodeProgram& program_;
  std::int64_t context_, begin_ = 0;
  std::vector<std::int32_t> held_ = {};  // symbols from `begin_` on that the cache knows
  Executor executor_;
};

}  // namespace lethe
