// What an op can do of the work of another beside it, so that passes over memory are saved.
#pragma once
#include <array>
#include <optional>

#include "framework/program.h"

namespace lethe {

/// For fuse_addends: `made`, whose output 0 is what `adding` adds, and `adding`, so that it is never written; none if
/// they cannot.
using AddsUnmade = std::optional<std::array<Op, 2>> (*)(const Op& made, const Op& adding);

/// For fuse_updates: the update that makes output 0 of `made` itself, some of it at a time, in place of `update`, whose
/// gradient that is; none if it cannot, or if nothing is gained.
using IntoUpdate = std::optional<Op> (*)(const Program& program, const Op& made, const Op& update);

/// Of a gradient that can mask its input `of` itself, as that of an activation after its op asks for.
struct MaskedGradient {
  int of = -1;  // -1: it cannot
  /// For fuse_masks: the op that does it in place of `gradient`, where `made` makes what is activated; none if that is
  /// not its op.
  std::optional<Op> (*instead)(const Op& gradient, const Op& made) = nullptr;
  /// For join_masks: the op that does the work of `mask` too, which makes the input, and gives that after its own
  /// outputs; none if it cannot.
  std::optional<Op> (*joined)(const Op& gradient, const Op& mask) = nullptr;
};

}  // namespace lethe
