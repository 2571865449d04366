#include "framework/autodiff/needs.h"

#include <algorithm>

#include "framework/language/control_flow.h"

namespace lethe {
namespace {

class Marks {
 public:
  Marks(const Program& program, std::vector<bool> roots) : program_(program), needs_(std::move(roots)) {}

  std::vector<bool> run() && {
    visit(0);
    return std::move(needs_);
  }

 private:
  void visit(BlockId block) {
    for (const Op& op : program_.blocks[block].ops) {
      if (op.role != Role::Forward) continue;
      if (op.blocks.empty())
        visit_op(op);
      else
        while (visit_blocks(op)) {
        }
    }
  }

  void visit_op(const Op& op) {
    const bool reached = std::any_of(op.in.begin(), op.in.end(), [&](VarId v) { return v != kNone && needs_[v]; });
    for (const VarId v : op.out)
      if (reached) mark(v);
  }

  /// Once through the blocks; says whether that marked a var that they may read.
  bool visit_blocks(const Op& op) {
    const std::vector<bool> before = needs_;
    const std::size_t carried = loop_carried(program_, op);
    for (std::size_t i = 0; op.type == kWhile && i < carried; ++i)
      if (needs_[op.in[i]]) mark(op.out[i]);
    for (const BlockId body : op.blocks) {
      visit(body);
      const std::vector<VarId>& results = program_.blocks[body].results;
      for (std::size_t i = 0; i < std::min(results.size(), carried); ++i)
        if (needs_[results[i]]) mark(op.out[i]);
    }
    return needs_ != before;
  }

  void mark(VarId v) {
    if (is_float(program_.vars[v].dtype)) needs_[v] = true;
  }

  const Program& program_;
  std::vector<bool> needs_;  // by VarId
};

}  // namespace

std::vector<bool> needs_gradient(const Program& program, std::vector<bool> roots) {
  return Marks(program, std::move(roots)).run();
}

}  // namespace lethe
