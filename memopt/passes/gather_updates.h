// Small updates one after the other, so that a device can do many in one launch.
#pragma once
#include <functional>

#include "framework/run/plan.h"
#include "memopt/passes/sharing.h"

namespace lethe {

/// Whether a device does two updates in one launch.
using GroupsWith = std::function<bool(const Op& first, const Op& other)>;

/// An update is small if what it changes has at most so many bytes: a launch takes longer.
inline constexpr std::int64_t kSmallUpdate = 1 << 20;

/// Lets small updates in place (of parameters, of running statistics) wait for others that they group with, as long as
///  - no op that they would wait for touches what they change, or changes what they read;
///  - what they read may stay in memory meanwhile without more bytes alive at once than now at the most.
/// Bits stay the same.
Program gather_updates(Program program, const Liveness& live, const Sharing& sharing, const Workspaces& workspaces,
                       const GroupsWith& groups_with);

}  // namespace lethe
