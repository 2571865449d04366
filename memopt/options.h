// What may be asked of the memory stage, and how that is written on a command line.
#pragma once
#include <string>

#include "framework/device_info.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// How buffers are given to storages.
enum class Level {
  None,       // each its own, held to the end of the step
  SameShape,  // 0: that of a dead one of the same shape and dtype
  Fits,       // 1: that of a dead one of the same dtype that is large enough
  Arena       // 2: an offset in one block
};

/// What `--memopt` and the options around it ask for.
struct MemoptOptions {
  Level level = Level::None;
  bool release = false;           // buffers are given back within the step
  bool in_place = false;          // outputs take the memory of dying inputs; always at level 2
  bool early_updates = true;      // at level 2; false: for comparison
  bool views = true;              // at level 2: in place of copies; false: for comparison
  bool fuse_activations = false;  // what relu gives is a view of what the op before writes, where that can
  bool gather_updates = false;    // at level 2: those that the device does in one launch, if that takes no byte more
  bool stage_inputs = false;      // at level 2: find room for the inputs of the next step, if there is any
  PinOptions pins = {};
  double seconds = 1;      // for the search of an arena
  bool print_log = false;  // collect Planned::log
};

/// Reads `none` or `level=N`, then `,release` and `,inplace`. Fails on anything else and on what makes no sense
/// together, saying what is known.
MemoptOptions parse_memopt(const std::string& text);

/// With what the device gains by: a GPU computes activations on the way, copies while it computes, and takes longer for
/// a launch than for a small update.
MemoptOptions suited(MemoptOptions options, const DeviceInfo& device);

}  // namespace lethe
