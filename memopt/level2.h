// Level 2: all that lives in a step lies in one arena, for the ops in the order in which they are, or in a better form
// of the program where there is one.
#pragma once
#include "memopt/planned.h"
#include "memopt/recompute/replay.h"

namespace lethe {

/// With sums and activations on the way of the ops before them.
Program fused(Program program, const std::vector<Pin>& pins, DeviceKind device);

/// A program with what its ops need, the lives of its vars and their sharing; no plan yet. Activations are fused here,
/// behind views: what writes a part of a wider var stays an op of its own.
Planned analysed(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options);

/// All that backward reads is kept. `program` has early updates, if they are wanted.
Planned plan_kept(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options);

/// The program's tape on the device.
Tape tape_for(const Program& program, const Workspaces& workspaces, const DeviceInfo& device,
              const std::vector<Pin>& pins, const MemoptOptions& options);

/// In the order that serves computing again best: gradients early, if updates may be.
Program ordered_for_repeats(Program program, const MemoptOptions& options);

/// With what the choice of a rung does not keep made again, and all else kept; `recomputed` says what that comes to.
Planned plan_rung(const Program& program, const Tape& tape, const Rung& rung, Prepared& prepared,
                  const MemoptOptions& options);

/// With what cheap ops make again (memopt/recompute/cheap_repeats.h), if that takes fewer bytes than all kept, and at
/// most kNearlyFree of a step by prediction.
Planned plan_level2(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options);

}  // namespace lethe
