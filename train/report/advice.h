// Changes of how a network is trained that take less memory, and what each would take.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "train/session/programs.h"

namespace lethe {

/// A change, as one types it, what it does to training, and the bytes that all would then take.
struct Advice {
  std::string change, what;  // "--optimizer lion", "one number of state a parameter"
  std::int64_t bytes = 0;
  double overhead = 0;  // what computing again takes of a step then, as a share; at level 3
};

/// A change that this network or setting does not allow, and what was said of it.
struct Refusal {
  std::string change, reason;
};
struct Advised {
  std::vector<Advice> changes;    // by how little they change training
  std::vector<Refusal> refusals;  // the first for each reason
};

/// Those that take fewer bytes than `taken`, and those that are refused (Exit::Usage). Under a budget a change is
/// planned at level 2, and if it does not fit there, as the setting says. `busy` is told which one is looked at;
/// planning each takes as long as planning the setting. Fails as that does, but for refusals.
Advised advice_for(const ProgramSetting& setting, const Network& network, std::int64_t taken,
                   std::optional<std::int64_t> budget, Prepared& prepared,
                   const std::function<void(const std::string&)>& busy);

/// The first that takes no more than so many bytes; null if none does.
const Advice* least_change_that_fits(const std::vector<Advice>& advice, std::int64_t budget);

}  // namespace lethe
