#include "memopt/passes/join_masks.h"

#include <algorithm>

#include "framework/op_def.h"
#include "memopt/analysis/makers.h"

namespace lethe {
namespace {

/// The op in place of `reader`, which is the first to read what `mask` makes.
std::optional<Op> joined(const Op& reader, const Op& mask) {
  const MaskedGradient& masked = op_def(reader.type).masked;
  const VarId g = mask.out[0];
  if (!masked.joined || reader.in[masked.of] != g) return std::nullopt;
  return std::count(reader.in.begin(), reader.in.end(), g) == 1 ? masked.joined(reader, mask) : std::nullopt;
}

/// By VarId: what a slice or a concatenation reads or makes. As views they may leave gaps between rows, which masks
/// take and norms do not.
std::vector<bool> parts_of_copies(const Program& program) {
  std::vector<bool> part(program.vars.size());
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) {
      if (!op_def(op.type).as_view) continue;
      for (const std::vector<VarId>* vars : {&op.in, &op.out})
        for (const VarId v : *vars)
          if (v != kNone) part[v] = true;
    }
  return part;
}

}  // namespace

Program join_masks(Program program) {
  const Program before = program;
  const std::vector<bool> settled = settled_vars(before), part = parts_of_copies(before);
  const auto stays = [&](VarId v) { return settled[v] && !part[v]; };
  std::vector<Op>& ops = program.blocks[0].ops;
  std::vector<bool> gone(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Op& mask = ops[i];
    if (!op_def(mask.type).masks || !stays(mask.out[0])) continue;
    if (!std::all_of(mask.in.begin(), mask.in.end(), stays)) continue;
    const auto reads = [&](const Op& op) { return std::count(op.in.begin(), op.in.end(), mask.out[0]) > 0; };
    const auto first = std::find_if(ops.begin() + static_cast<std::ptrdiff_t>(i) + 1, ops.end(), reads);
    std::optional<Op> join = first == ops.end() ? std::nullopt : joined(*first, mask);
    if (!join) continue;
    *first = std::move(*join);
    gone[i] = true;
  }
  std::size_t at = 0;
  std::erase_if(ops, [&](const Op&) { return gone[at++]; });
  return program;
}

}  // namespace lethe
