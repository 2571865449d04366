#include "memopt/passes/fuse_addends.h"

#include <algorithm>

#include "framework/op_def.h"
#include "framework/reads.h"

namespace lethe {
namespace {

/// What the op adds; kNone: nothing.
VarId addend_of(const Op& op) {
  const OpDef& def = op_def(op.type);
  return def.adds_unmade && static_cast<int>(op.in.size()) == def.adds + 1 ? op.in[def.adds] : kNone;
}

bool writes_to_one_of(const std::vector<VarId>& vars, const Op& op) {
  return std::find_first_of(op.out.begin(), op.out.end(), vars.begin(), vars.end()) != op.out.end();
}

}  // namespace

Program fuse_addends(Program program, const std::vector<Pin>& pins) {
  const std::vector<int> reads = reads_of(program);
  for (Block& block : program.blocks) {
    std::vector<int> maker(program.vars.size(), -1);  // by VarId: the op of the block that has it as output 0
    for (int i = 0; i < static_cast<int>(block.ops.size()); ++i) {
      Op& adding = block.ops[i];
      const VarId v = addend_of(adding);
      const int at = v == kNone ? -1 : maker[v];
      if (at >= 0 && reads[v] == 1 && pins[v] == Pin::None) {
        Op& made = block.ops[at];
        const bool stays = std::none_of(block.ops.begin() + at, block.ops.begin() + i,
                                        [&](const Op& between) { return writes_to_one_of(made.in, between); });
        if (auto both = stays ? op_def(adding.type).adds_unmade(made, adding) : std::nullopt) {
          made = std::move((*both)[0]);
          adding = std::move((*both)[1]);
        }
      }
      if (!adding.out.empty()) maker[adding.out[0]] = i;
    }
  }
  return program;
}

}  // namespace lethe
