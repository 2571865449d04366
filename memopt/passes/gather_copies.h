// Small copies in another dtype one after the other, so that a device can make many in one launch.
#pragma once
#include "memopt/passes/gather_updates.h"

namespace lethe {

/// A copy is small if it has at most so many bytes: of what a larger one takes a launch is a small part.
inline constexpr std::int64_t kSmallCopy = 16 << 20;

/// Makes small copies of what keeps its value (copies_kept) sooner, beside others that they group with, as long as
///  - no op that they pass changes what they copy;
///  - they may stay in memory from there on without more bytes alive at once than now at the most.
/// Bits stay the same.
Program gather_copies(Program program, const Liveness& live, const Sharing& sharing, const Workspaces& workspaces,
                      const GroupsWith& groups_with);

}  // namespace lethe
