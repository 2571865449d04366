// How a network that was trained on text reads it: symbol by symbol by programs with a cache
// (framework/builder/decode_program.h), if it can, else its whole window for each symbol.
#pragma once
#include <optional>
#include <string>

#include "framework/builder/decode_program.h"
#include "train/session/next_logits.h"
#include "train/session/settings.h"

namespace lethe {

/// A network file's programs for text symbol by symbol, both over one cache.
struct DecodePrograms {
  std::int64_t context = 0;                // symbols of the window
  std::int64_t block = 1;                  // into how many at a time it is cut
  DecodeProgram next = {};                 // reads one symbol
  std::optional<DecodeProgram> fill = {};  // reads a block into the cache, and predicts nothing
};

inline constexpr std::int64_t kReadAtOnce = 64;
/// Makes the programs of the network that `setting` means, whose window is its file's var `length`; none without it. A
/// block is the largest divisor of the window below it that is at most `most`. If there are none `why_none` says why.
std::optional<DecodePrograms> decode_programs(const Network& window, NetworkSetting setting,
                                              std::int64_t most = kReadAtOnce, std::string* why_none = nullptr);

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
  /// Reads the symbols after those held, as many as the program reads or fewer.
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

/// Reads text by programs with a cache if the network can, else its whole window for each symbol.
class TextReading {
 public:
  /// `cached` asks for a cache.
  TextReading(const ProgramSetting& setting, bool cached, Prepared& prepared);

  bool is_cached() const { return programs_.has_value(); }
  /// Why there is none although a cache was asked for; else empty.
  const std::string& why_no_cache() const { return why_no_cache_; }
  const Network& window() const { return network_; }
  std::int64_t context() const { return context_; }
  /// The network that runs for each symbol.
  const Network& runs() const { return programs_ ? programs_->next.network : network_; }
  const Planned& planned() const { return programs_ ? cached_.next : whole_; }
  const Bytes& bytes() const { return programs_ ? cached_.together.bytes : whole_.plan.bytes; }
  bool takes_on_demand() const { return planned().plan.on_demand > 0; }
  std::int64_t reserved(std::int64_t alignment) const;
  std::unique_ptr<NextLogits> begin(Prepared& prepared, Store& store) const;

 private:
  Network network_;
  std::int64_t context_;
  std::string why_no_cache_ = {};
  std::optional<DecodePrograms> programs_;
  DecodePlans cached_ = {};
  Planned whole_ = {};
};

}  // namespace lethe
