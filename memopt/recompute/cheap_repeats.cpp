#include "memopt/recompute/cheap_repeats.h"

#include "memopt/recompute/descent.h"

namespace lethe {
namespace {

class CheapChoice {
 public:
  explicit CheapChoice(const Tape& tape)
      : tape_(tape), choice_(keep_all(tape)), first_(tape.values.size(), -1), last_(tape.values.size(), -1) {
    for (int i = 0; i < static_cast<int>(tape.ops.size()); ++i)
      for (const VarId v : tape.ops[i].call.in) {
        if (i >= tape.values[v].turn && first_[v] < 0) first_[v] = i;
        last_[v] = i;
      }
  }

  /// Candidates stand in the order of their makers: what one is made of is decided before it.
  Choice run() && {
    for (const std::vector<VarId>& alike : tape_.candidates)
      if (std::all_of(alike.begin(), alike.end(), [&](VarId v) { return first_[v] >= 0 && can_be_made(v, first_[v]); }))
        for (const VarId v : alike) choice_[v] = Keep::Again;
    return std::move(choice_);
  }

 private:
  bool can_be_made(VarId v, int i) const {
    const TapeOp& op = tape_.ops[tape_.values[v].maker];
    return op.cheap && op.call.out.front() == v && op.until >= i &&
           std::all_of(op.call.in.begin(), op.call.in.end(), [&](VarId in) { return is_there(in, i); });
  }

  /// Whether op `i` or one behind it reads the value, which is kept so far or can be made by then.
  bool is_there(VarId v, int i) const {
    const TapeValue& value = tape_.values[v];
    if (value.bytes == 0 || value.given || value.lasts) return true;
    return last_[v] >= i && (choice_[v] == Keep::Kept || (choice_[v] == Keep::Again && can_be_made(v, i)));
  }

  const Tape& tape_;
  Choice choice_;
  std::vector<int> first_, last_;  // by value: the ops that read it first in backward, and last; -1: none
};

}  // namespace

std::optional<Rung> cheap_repeats(const Tape& tape) {
  Choice choice = CheapChoice(tape).run();
  if (choice == keep_all(tape)) return std::nullopt;
  Descent descent(tape);
  const std::int64_t kept = descent.course().peak;
  descent.begin_with(std::move(choice));
  if (descent.course().peak >= kept) return std::nullopt;
  descent.prune(descent.course().peak);
  return descent.rung();
}

}  // namespace lethe
