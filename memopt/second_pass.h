// A step that makes its gradients in two passes (memopt/passes/two_passes.h), and what the second one takes.
#pragma once
#include "memopt/plan.h"

namespace lethe {

/// All steps but the last ones: in one pass, or in two where that is asked for, or where level 3 keeps a budget by
/// nothing else, or by nothing cheaper. Fails where two are asked for and cannot be.
Planned plan_in_passes(MemoryStage& stage, const Planned& form);

/// The form with gradients in two passes. Fails where that cannot be.
Planned in_two_passes(const MemoryStage& stage, Planned form);

/// What is computed again, whose overhead is a share of a step of two passes, and the second pass with it.
Recomputed with_second_pass(const Recomputed& beside, const Recomputed& second);

/// Of an overhead what is left beside the second pass, as a share of a step of two passes; 0 if that takes all.
double overhead_beside(const Recomputed& second, double overhead);

}  // namespace lethe
