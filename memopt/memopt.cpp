#include "memopt/memopt.h"

#include "framework/error.h"
#include "memopt/ladder.h"
#include "memopt/plan.h"
#include "memopt/second_pass.h"

namespace lethe {
namespace {

Planned form_of(Program program, const MemoryStage& stage) {
  Planned form = stage.first_form(std::move(program));
  return stage.options().clip_passes == 2 ? in_two_passes(stage, std::move(form)) : form;
}

}  // namespace

Planned plan_memory(Program program, Prepared& prepared, const MemoptOptions& options) {
  check(!program.blocks[0].ops.empty(), "the network computes nothing: it has no op");
  return MemoryStage(prepared, options).run(std::move(program));
}

std::vector<PricedBytes> sweep_memory(Program program, Prepared& prepared, const MemoptOptions& options) {
  MemoryStage stage(prepared, options);
  Planned form = form_of(std::move(program), stage);
  stage.rewrite_for_arena(form);
  if (options.fuse_updates) stage.fuse_into_updates(form);
  std::vector<PricedBytes> points = sweep_ladder(stage, form);
  for (PricedBytes& point : points)
    if (form.second_pass) point.recomputed = with_second_pass(point.recomputed, *form.second_pass);
  return points;
}

Plan plan_unshared(Program program, Prepared& prepared, const MemoptOptions& options) {
  MemoptOptions none = options;
  none.level = Level::None;
  none = suited(none, prepared.device());
  const MemoryStage stage(prepared, none);
  Planned form = form_of(std::move(program), stage);
  if (none.fuse) stage.fuse(form);
  return plan_none(form.program, workspaces_of(form.program, prepared));
}

}  // namespace lethe
