#include "memopt/recompute/cheap_repeats.h"

#include <algorithm>
#include <limits>

#include "memopt/recompute/descent.h"

namespace lethe {
namespace {

/// Lets go of all that can be made again of what is there.
class CheapChoice {
 public:
  explicit CheapChoice(const Tape& tape)
      : tape_(tape), choice_(keep_all(tape)), first_(tape.values.size(), -1), until_(tape.values.size(), -1) {
    for (int i = 0; i < static_cast<int>(tape.ops.size()); ++i)
      for (const VarId v : tape.ops[i].call.in) {
        const bool is_new = first_[v] < 0 || (i >= tape.second_pass && first_[v] < tape.second_pass);
        if (i >= tape.values[v].turn && is_new) first_[v] = i;
        if (choice_[v] == RecomputePolicy::Keep) until_[v] = i;
      }
    for (std::size_t v = 0; v < tape.values.size(); ++v)
      if (tape.values[v].bytes == 0 || tape.values[v].given || tape.values[v].lasts)
        until_[v] = std::numeric_limits<int>::max();
  }

  /// Candidates stand in the order of their makers: what one is made of is decided before it.
  Choice run() && {
    for (const std::vector<VarId>& alike : tape_.candidates)
      if (std::all_of(alike.begin(), alike.end(),
                      [&](VarId v) { return first_[v] >= 0 && made_until(v) >= first_[v]; }))
        for (const VarId v : alike) {
          choice_[v] = RecomputePolicy::Once;
          until_[v] = std::min(until_[v], made_until(v));
        }
    return std::move(choice_);
  }

 private:
  /// The last op for which a cheap op can make the value of what is there then; -1: none.
  int made_until(VarId v) const {
    const TapeOp& op = tape_.ops[tape_.values[v].maker];
    if (!op.cheap || op.call.out.front() != v) return -1;
    int until = op.until;
    for (const VarId in : op.call.in) until = std::min(until, until_[in]);
    return until;
  }

  const Tape& tape_;
  Choice choice_;
  std::vector<int> first_;  // by value: the op that reads it first in backward, of two passes the last; -1: none
  std::vector<int> until_;  // by value: the last op before which it is there anyway; -1: it is not in backward
};

/// Keeps values again until the rest takes no more than `seconds`: first those that take most for their bytes.
void keep_within(const Tape& tape, double seconds, Descent& descent) {
  const Choice all = keep_all(tape);
  std::vector<std::pair<double, const std::vector<VarId>*>> by_price;
  for (const std::vector<VarId>& alike : tape.candidates) {
    const TapeValue& value = tape.values[alike.front()];
    if (descent.choice()[alike.front()] != all[alike.front()])
      by_price.emplace_back(tape.ops[value.maker].call.seconds / static_cast<double>(value.bytes), &alike);
  }
  std::stable_sort(by_price.begin(), by_price.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [price, alike] : by_price) {
    if (descent.course().seconds <= seconds) return;
    Choice choice = descent.choice();
    for (const VarId v : *alike) choice[v] = all[v];
    descent.begin_with(std::move(choice));
  }
}

}  // namespace

std::optional<Rung> cheap_repeats(const Tape& tape, double seconds) {
  Choice choice = CheapChoice(tape).run();
  if (choice == keep_all(tape)) return std::nullopt;
  Descent descent(tape);
  const std::int64_t kept = descent.course().peak;
  descent.begin_with(std::move(choice));
  descent.prune(descent.course().peak);
  if (descent.course().seconds > seconds) {
    keep_within(tape, seconds, descent);
    descent.prune(descent.course().peak);
  }
  return descent.course().peak < kept ? std::optional(descent.rung()) : std::nullopt;
}

}  // namespace lethe
