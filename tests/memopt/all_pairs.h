// What check_plan says of a program without blocks, by comparing every write with every read: slow and plainly right.
#pragma once
#include <algorithm>
#include <vector>

#include "framework/op_def.h"
#include "framework/plan.h"

namespace lethe::testing {

class AllPairs {
 public:
  AllPairs(const Program& program, const Plan& plan)
      : program_(program), plan_(plan), ops_(program.blocks[0].ops), root_(view_root(program)) {}

  bool wrong() const {
    const auto end = static_cast<int>(ops_.size());
    for (VarId v = 0; v < static_cast<VarId>(root_.size()); ++v) {
      const bool is_input = program_.vars[v].kind == Kind::Input;
      if (is_input && loses(v, -1, end)) return true;
      for (int step = 0; step < end; ++step)
        if (reads(step, v) && (loses(v, written_at(v), step) || cannot_write_over(step, v))) return true;
    }
    return outputs_meet();
  }

 private:
  bool in_store(VarId v) const { return is_persistable(program_.vars[root_[v]].kind); }
  bool meet(VarId a, VarId b) const {
    const Place p = plan_.vars[a], q = plan_.vars[b];
    return p.buffer >= 0 && p.buffer == q.buffer && p.offset < q.offset + bytes_of(program_.vars[b]) &&
           q.offset < p.offset + bytes_of(program_.vars[a]);
  }
  bool is_view(int step) const { return op_def(ops_[static_cast<std::size_t>(step)].type).view; }
  bool reads(int step, VarId v) const {
    const Op& op = ops_[static_cast<std::size_t>(step)];
    return std::find(op.in.begin(), op.in.end(), v) != op.in.end();
  }
  int written_at(VarId v) const {
    for (std::size_t i = 0; i < ops_.size(); ++i)
      for (const VarId out : ops_[i].out)
        if (out == root_[v]) return static_cast<int>(i);
    return -1;
  }
  /// Whether something else is written over v between two steps.
  bool loses(VarId v, int from, int to) const {
    if (in_store(v)) return false;
    for (int step = from + 1; step < to; ++step)
      for (const VarId out : ops_[static_cast<std::size_t>(step)].out)
        if (!is_view(step) && root_[out] != root_[v] && meet(out, v)) return true;
    return false;
  }
  bool cannot_write_over(int step, VarId v) const {
    const Op& op = ops_[static_cast<std::size_t>(step)];
    if (is_view(step) || in_store(v)) return false;
    for (std::size_t slot = 0; slot < op.out.size(); ++slot) {
      if (!meet(op.out[slot], v)) continue;
      const auto over =
          std::count_if(op.in.begin(), op.in.end(), [&](VarId in) { return in != kNone && meet(op.out[slot], in); });
      const std::vector<InPlace>& pairs = op_def(op.type).inplace;
      const bool declared = std::any_of(pairs.begin(), pairs.end(), [&](const InPlace& pair) {
        return pair.out == static_cast<int>(slot) && pair.in < std::ssize(op.in) &&
               op.in[static_cast<std::size_t>(pair.in)] == v;
      });
      const bool fits = plan_.vars[op.out[slot]].offset == plan_.vars[v].offset &&
                        bytes_of(program_.vars[op.out[slot]]) <= bytes_of(program_.vars[v]);
      if (over != 1 || !declared || !fits) return true;
    }
    return false;
  }
  bool outputs_meet() const {
    for (const Op& op : ops_)
      for (std::size_t i = 0; i < op.out.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (meet(op.out[i], op.out[j])) return true;
    return false;
  }

  const Program& program_;
  const Plan& plan_;
  const std::vector<Op>& ops_;
  const std::vector<VarId> root_;
};

}  // namespace lethe::testing
