#include "train/session/text_reading.h"

#include "train/session/programs.h"

namespace lethe {

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
