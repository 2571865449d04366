// What a gradient can do of an activation's gradient behind its op, so that passes over memory are saved.
#pragma once
#include <optional>

#include "framework/program.h"

namespace lethe {

/// Of a gradient that can mask its input `of` itself, as that of an activation behind its op asks for.
struct MaskedGradient {
  int of = -1;  // -1: it cannot
  /// For fuse_masks: the op that does it in place of `gradient`, where `made` makes what is activated; none if that is
  /// not its op.
  std::optional<Op> (*instead)(const Op& gradient, const Op& made) = nullptr;
  /// For join_masks: the op that does the work of `mask` too, which makes the input, and gives that behind its own
  /// outputs; none if it cannot.
  std::optional<Op> (*joined)(const Op& gradient, const Op& mask) = nullptr;
};

}  // namespace lethe
