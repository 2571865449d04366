#include "tests/memopt/all_pairs.h"

#include <algorithm>
#include <vector>

#include "framework/language/op_def.h"
#include "framework/language/views.h"

namespace lethe::testing {
namespace {

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
  struct Rows {
    Rows(const Var& var, std::int64_t offset, bool gaps) : begin(offset) {
      bytes = gaps && var.pitch > 0 ? row_of(var.shape) * bytes_of(var.dtype) : span_of(var);
      pitch = var.pitch * bytes_of(var.dtype);
      count = gaps && var.pitch > 0 ? elements(var.shape) / row_of(var.shape) : 1;
    }
    std::int64_t begin, bytes = 0, pitch = 0, count = 1;
  };

  bool in_store(VarId v) const { return is_persistable(program_.vars[root_[v]].kind); }
  /// Whether a row of one has a byte of a row of the other; of gaps they know alone if theirs are alike.
  bool meet(VarId a, VarId b) const {
    if (plan_.vars[a].buffer < 0 || plan_.vars[a].buffer != plan_.vars[b].buffer) return false;
    const bool alike =
        program_.vars[a].pitch == program_.vars[b].pitch && program_.vars[a].dtype == program_.vars[b].dtype;
    const Rows p(program_.vars[a], plan_.vars[a].offset, alike), q(program_.vars[b], plan_.vars[b].offset, alike);
    for (std::int64_t i = 0, j = 0; i < p.count && j < q.count;) {
      const std::int64_t x = p.begin + i * p.pitch, y = q.begin + j * q.pitch;
      if (x < y + q.bytes && y < x + p.bytes) return true;
      (x < y ? i : j) += 1;
    }
    return false;
  }
  bool is_view(int step) const { return op_def(ops_[static_cast<std::size_t>(step)].type).is_view(); }
  bool reads(int step, VarId v) const {
    const Op& op = ops_[static_cast<std::size_t>(step)];
    return std::find(op.in.begin(), op.in.end(), v) != op.in.end();
  }
  /// The step at which v is written, or what it is a view of.
  int written_at(VarId v) const {
    for (std::size_t i = 0; i < ops_.size(); ++i)
      for (const VarId out : ops_[i].out)
        if (const ViewOf view = op_def(ops_[i].type).view; out == v)
          return view == ViewOf::Whole || view == ViewOf::Part ? written_at(ops_[i].in[0]) : static_cast<int>(i);
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

}  // namespace

bool all_pairs_find_fault(const Program& program, const Plan& plan) { return AllPairs(program, plan).wrong(); }

}  // namespace lethe::testing
