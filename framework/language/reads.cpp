#include "framework/language/reads.h"

namespace lethe {

std::vector<int> reads_of(const Program& program) {
  std::vector<int> reads(program.vars.size());
  for (const Block& block : program.blocks) {
    for (const VarId v : block.results) ++reads[v];
    for (const Op& op : block.ops)
      for (const VarId v : op.in)
        if (v != kNone) ++reads[v];
  }
  return reads;
}

}  // namespace lethe
