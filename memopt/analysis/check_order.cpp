#include "memopt/analysis/check_order.h"

#include <algorithm>
#include <map>
#include <string>

#include "framework/error.h"
#include "framework/op_def.h"
#include "framework/text.h"

namespace lethe {
namespace {

/// An op, and for all that it reads and writes: what it is a view of by then, and how often that had been written.
struct Moment {
  const Op* op;
  std::vector<int> versions;
  bool operator==(const Moment& other) const { return *op == *other.op && versions == other.versions; }
};

/// Of each op of a block, by what it writes: no two ops write the same version of a var.
using Moments = std::map<std::pair<std::vector<VarId>, std::vector<int>>, Moment>;

std::vector<Moments> moments_of(const Program& program) {
  std::vector<int> written(program.vars.size());
  std::vector<VarId> shown(program.vars.size());  // by VarId: what it is a view of, or itself
  for (std::size_t v = 0; v < shown.size(); ++v) shown[v] = static_cast<VarId>(v);
  std::vector<Moments> blocks;
  for (const Block& block : program.blocks) {
    Moments& moments = blocks.emplace_back();
    for (const Op& op : block.ops) {
      Moment moment{&op, {}};
      for (const auto* vars : {&op.in, &op.out})
        for (const VarId v : *vars)
          if (v != kNone) moment.versions.insert(moment.versions.end(), {shown[v], written[shown[v]]});
      moments.emplace(std::pair{op.out, moment.versions}, moment);
      if (op_def(op.type).view)
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
    for (const auto& [key, moment] : expected[b]) {
      const auto same = found[b].find(key);
      check(same != found[b].end() && same->second == moment, "order: ", text_of(before, *moment.op),
            " does not read and write what it did before it was moved");
    }
  }
}

}  // namespace lethe
