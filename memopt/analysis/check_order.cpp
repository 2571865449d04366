#include "memopt/analysis/check_order.h"

#include <map>
#include <numeric>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/language/text.h"

namespace lethe {
namespace {

/// The ops of a block by what they write and, for all that they read and write, what it is a view of by then and how
/// often that had been written. Ops that write nothing are not told apart.
using Moments = std::map<std::pair<std::vector<VarId>, std::vector<int>>, const Op*>;

std::vector<Moments> moments_of(const Program& program) {
  std::vector<int> written(program.vars.size());
  std::vector<VarId> shown(program.vars.size());  // by VarId: what it is a view of, or itself
  std::iota(shown.begin(), shown.end(), 0);
  std::vector<Moments> blocks;
  for (const Block& block : program.blocks) {
    Moments& moments = blocks.emplace_back();
    for (const Op& op : block.ops) {
      std::vector<int> versions;
      for (const auto* vars : {&op.in, &op.out})
        for (const VarId v : *vars)
          if (v != kNone) versions.insert(versions.end(), {shown[v], written[shown[v]]});
      moments.emplace(std::pair{op.out, std::move(versions)}, &op);
      if (const ViewOf view = op_def(op.type).view; view == ViewOf::Whole || view == ViewOf::Part)
        shown[op.out[0]] = shown[op.in[0]];
      else
        for (const VarId v : op.out) ++written[shown[v]];
    }
  }
  return blocks;
}

}  // namespace

void check_order(const Program& before, const Program& after) {
  check(before.vars == after.vars && before.blocks.size() == after.blocks.size(), "order: other vars or blocks");
  const std::vector<Moments> expected = moments_of(before), found = moments_of(after);
  for (std::size_t b = 0; b < expected.size(); ++b) {
    check(before.blocks[b].ops.size() == after.blocks[b].ops.size(), "order: block ", b, " has ",
          after.blocks[b].ops.size(), " ops, had ", before.blocks[b].ops.size());
    for (const auto& [moment, op] : expected[b]) {
      const auto same = found[b].find(moment);
      check(same != found[b].end() && *same->second == *op, "order: ", text_of(before, *op),
            " does not read and write what it did before it was moved");
    }
  }
}

}  // namespace lethe
