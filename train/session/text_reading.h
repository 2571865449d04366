// How a network that was trained on text reads it, symbol by symbol.
#pragma once
#include <optional>
#include <string>

#include "train/session/cached_logits.h"

namespace lethe {

/// By programs with a cache if the network can, else its whole window for each symbol.
class TextReading {
 public:
  /// `cached` asks for a cache.
  TextReading(const ProgramSetting& setting, bool cached, Prepared& prepared);

  bool is_cached() const { return programs_.has_value(); }
  /// Why there is none although a cache was asked for; else empty.
  const std::string& why_no_cache() const { return why_no_cache_; }
  const Network& window() const { return network_; }
  std::int64_t context() const { return context_; }
  /// What runs for each symbol.
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
