#include "memopt/memopt.h"

#include "memopt/ladder.h"
#include "memopt/plan.h"

namespace lethe {

Planned plan_memory(Program program, Prepared& prepared, const MemoptOptions& options) {
  return MemoryStage(prepared, options).run(std::move(program));
}

std::vector<PricedBytes> sweep_memory(Program program, Prepared& prepared, const MemoptOptions& options) {
  MemoryStage stage(prepared, options);
  Planned form{.program = std::move(program)};
  stage.rewrite_for_arena(form);
  if (options.fuse_updates) stage.fuse_into_updates(form);
  return sweep_ladder(stage, form);
}

Plan plan_unshared(Program program, Prepared& prepared, const MemoptOptions& options) {
  MemoptOptions none = options;
  none.level = Level::None;
  none = suited(none, prepared.device());
  Planned form{.program = std::move(program)};
  if (none.fuse) MemoryStage(prepared, none).fuse(form);
  return plan_none(form.program, workspaces_of(form.program, prepared));
}

}  // namespace lethe
