// Slices that are views of what they cut, and concatenations that their producers write: no copy, and no memory for it.
// But a view keeps all of its root alive, so more may be alive at once; then the copy stays.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "framework/program.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// Replaces ops that copy by views (`OpDef::as_view`) where
///  - the parts lie in rows that are equally far apart (`pitch_of_part`), and all kernels that touch them take such
///    rows; without rows apart they begin at multiples of `alignment` bytes;
///  - parts and whole are of the op's block, nothing updates them in place, no loop or branch hands them on, and what
///    is written into a whole is a temp that is not pinned;
///  - no more is alive at once, as `most_alive` says of a program. All are tried together, and if that takes more, one
///    after the other from the last on.
/// Nothing if no op is replaced.
std::optional<Program> views_for_copies(const Program& program, const std::vector<Pin>& pins, std::int64_t alignment,
                                        const std::function<std::int64_t(const Program&)>& most_alive);

}  // namespace lethe
