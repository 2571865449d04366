#include "memopt/passes/mask_picked.h"

#include <algorithm>

#include "framework/op_def.h"
#include "framework/reads.h"

namespace lethe {
namespace {

class Masking {
 public:
  Masking(const Program& program, const std::vector<Pin>& pins)
      : program_(program),
        pins_(pins),
        readers_(reads_of(program)),
        maker_(program.vars.size(), nullptr),
        changes_(program.vars.size()) {
    for (const Block& block : program.blocks)
      for (const Op& op : block.ops)
        for (const VarId v : op.out) {
          changes_[v] = maker_[v] != nullptr || op_def(op.type).updates || !op.blocks.empty();
          maker_[v] = &op;
        }
  }

  /// The op that gives back what `mask` masks, if these two can change places.
  const Op* before(const Op& mask) const {
    if (!op_def(mask.type).masks || mask.in.size() != 2) return nullptr;
    const VarId y = mask.in[0], a = mask.in[1];
    const Op* const back = maker_[a];
    if (!back || !op_def(back->type).returns_picked || readers_[a] != 1 || pins_[a] != Pin::None) return nullptr;
    const Op* const pick = maker_[back->in[0]];
    if (!pick || !op_def(pick->type).picks || pick->in[0] != y || pick->out[1] != back->in[0]) return nullptr;
    const VarId all[] = {y, a, pick->out[0], pick->out[1], back->in[1]};
    const bool stay = std::all_of(std::begin(all), std::end(all), [&](VarId v) {
      return !changes_[v] && program_.vars[v].block == program_.vars[mask.out[0]].block;
    });
    return stay ? back : nullptr;
  }

  VarId picked(const Op& back) const { return maker_[back.in[0]]->out[0]; }

 private:
  const Program& program_;
  const std::vector<Pin>& pins_;
  std::vector<int> readers_;      // by VarId
  std::vector<const Op*> maker_;  // by VarId
  std::vector<bool> changes_;     // by VarId: it is written more than once
};

}  // namespace

Program mask_picked(Program program, const std::vector<Pin>& pins) {
  const Program before = program;
  const Masking masking(before, pins);
  for (std::size_t b = 0; b < before.blocks.size(); ++b) {
    std::vector<Op> ops;
    for (const Op& op : before.blocks[b].ops) {
      const Op* const back = masking.before(op);
      if (!back) {
        ops.push_back(op);
        continue;
      }
      ops.erase(std::find(ops.begin(), ops.end(), *back));
      const VarId masked = add_var(program, program.vars[back->in[1]]);
      Op mask = op, give = *back;
      mask.in = {masking.picked(*back), back->in[1]};
      mask.out = {masked};
      give.in[1] = masked;
      give.out = op.out;
      ops.push_back(std::move(mask));
      ops.push_back(std::move(give));
    }
    program.blocks[b].ops = std::move(ops);
  }
  return program;
}

}  // namespace lethe
