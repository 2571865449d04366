// Slices that are views of what they cut, and concatenations that their producers write: no copy, and no memory for it.
// But a view keeps all of its root alive, so more may be alive at once; then the copy stays.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "framework/language/program.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// The most bytes of a program that are alive at once.
using MostAlive = std::function<std::int64_t(const Program&)>;

/// Replaces ops that copy by views (`OpDef::as_view`) where
///  - the parts lie in rows that are equally far apart (`pitch_of_part`), and all kernels that touch them take such
///    rows; without rows apart they begin at multiples of `alignment` bytes;
///  - parts and whole, with all that lies with them under other shapes, are of the op's block, nothing updates them in
///    place, no loop or branch hands them on; and what is then written elsewhere is neither fed nor pinned;
///  - no more is alive at once. All are tried together, and if that takes more, each half of them and so on, a hundred
///    times at most.
/// Nothing if no op is replaced.
std::optional<Program> views_for_copies(const Program& program, const std::vector<Pin>& pins, std::int64_t alignment,
                                        const MostAlive& most_alive);

}  // namespace lethe
