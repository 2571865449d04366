#include <algorithm>

#include "framework/language/views.h"
#include "train/report/plan_report.h"

namespace lethe {
namespace {

Part part_of(const Op& op) {
  if (op.type.starts_with("attention")) return Part::Attention;
  constexpr std::string_view kLosses[] = {"linear_cross_entropy", "softmax_cross_entropy", "nll_loss"};
  const bool is_loss = std::ranges::any_of(kLosses, [&](std::string_view loss) { return op.type.starts_with(loss); });
  return is_loss ? Part::Head : Part::Others;
}

/// The owner of each root, by its VarId. What both attention and the loss touch is attention's.
std::vector<Part> parts_of_vars(const Program& program) {
  const std::vector<VarId> root = view_root(program);
  std::vector<Part> parts(program.vars.size(), Part::Others);
  const auto touch = [&](VarId v, Part part) {
    if (v != kNone) parts[root[v]] = std::min(parts[root[v]], part);
  };
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) {
      for (const VarId v : op.in) touch(v, part_of(op));
      for (const VarId v : op.out) touch(v, part_of(op));
    }
  return parts;
}

/// The first step of backward; after all steps if there is none.
Tick turn_of(const Planned& planned) {
  const std::vector<Op>& ops = planned.program.blocks[0].ops;
  const auto first = std::ranges::find(ops, Role::Backward, &Op::role);
  return first == ops.end() ? planned.live.ticks() : planned.live.ops[0][first - ops.begin()].first;
}

bool is_activation(const Resident& resident) {
  return resident.category == Category::Activations || resident.category == Category::ActivationGrads ||
         resident.category == Category::Workspace;
}

}  // namespace

std::string_view name_of(Part part) {
  constexpr std::array<std::string_view, kParts> kPartNames = {"attention", "head", "others"};
  return kPartNames[static_cast<std::size_t>(part)];
}

PlanParts parts_of(const Planned& planned, const Peak& peak) {
  const std::vector<Part> of_var = parts_of_vars(planned.program);
  const auto part = [&](const Resident& r) {
    if (r.var != kNone) return of_var[r.var];
    const auto [block, index] = planned.live.at[r.op.first];
    return part_of(planned.program.blocks[block].ops[index]);
  };
  PlanParts parts;
  for (const Resident& r : peak.living)
    if (is_activation(r)) parts.peak[static_cast<std::size_t>(part(r))] += r.bytes;
  const Tick turn = turn_of(planned);
  if (turn == planned.live.ticks()) return parts;
  for (const Resident& r : residents(planned))
    if (is_activation(r) && r.life.born < turn && turn < r.until)
      parts.kept[static_cast<std::size_t>(part(r))] += r.bytes;
  return parts;
}

}  // namespace lethe
