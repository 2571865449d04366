// What may be asked of the memory stage, and how that is written on a command line.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "framework/language/device_info.h"
#include "memopt/analysis/pins.h"
#include "memopt/recompute/seconds.h"

namespace lethe {

/// How buffers are given to storages.
enum class Level {
  None,       // each its own, held to the end of the step
  SameShape,  // 0: that of a dead one of the same shape and dtype
  Fits,       // 1: that of a dead one of the same dtype that is large enough
  Arena,      // 2: an offset in one block
  Recompute   // 3: as 2, and some of what backward reads is computed again
};
inline bool is_in_arena(Level level) { return level == Level::Arena || level == Level::Recompute; }

/// What `--memopt` and the options around it ask for.
struct MemoptOptions {
  Level level = Level::None;
  bool release = false;       // buffers are given back within the step
  bool in_place = false;      // outputs take the memory of dying inputs; always in an arena
  bool early_updates = true;  // in an arena; false: for comparison
  bool views = true;          // in an arena: in place of copies; false: for comparison
  // On a GPU, whatever the level: products of backward do what stands beside them. It alone changes bits.
  bool fuse_products = false;
  bool fuse = false;          // sums and activations on the way of the op before, where that can
  bool fuse_copies = false;   // in an arena: products convert weights themselves; false: those in blocks alone
  bool fuse_updates = false;  // in an arena, after early updates: those that compute their gradient themselves
  bool gather = false;        // in an arena: updates and copies that the device does in one launch, for no byte more
  bool stage_inputs = false;  // in an arena: find room for the inputs of the next step, if there is any
  // Of level 3: the bytes that all of the plan may take, for which as little as possible is computed again; and the
  // share of a step that this may take, without a budget for as few bytes as possible. Not said: any share within a
  // budget, else as much as a forward pass takes.
  std::optional<std::int64_t> budget = {};
  std::optional<double> overhead = {};
  // 2: gradients are made twice, first for what is taken of all of them, their norm, and then for the updates, so that
  // none stands until the last is there; 1: once. Not said: twice at level 3 where a budget is not kept for less.
  std::optional<int> clip_passes = {};
  OpCosts costs = {};  // what it weighs ops by; none: seconds_on the device
  PinOptions pins = {};
  double seconds = 1;      // for the search of an arena
  bool print_log = false;  // collect Planned::log
};

/// Reads `none` or `level=N`, then `,release` and `,inplace`. Fails on anything else and on what makes no sense
/// together, saying what is known.
MemoptOptions parse_memopt(const std::string& text);

/// With what the device gains by: sums and activations on the way (on a CPU in an arena alone, so that other levels are
/// as the published ones); a CPU rounds a weight, and applies a gradient, some rows at a time; a GPU copies while it
/// computes, and takes longer for a launch than for a small update.
MemoptOptions suited(MemoptOptions options, const DeviceInfo& device);

}  // namespace lethe
