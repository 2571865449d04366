#include "memopt/recompute/replay.h"

#include <algorithm>

#include "memopt/recompute/walk.h"

namespace lethe {

const TapeCall& call_of(const Tape& tape, const Step& step) {
  return step.again ? tape.ops[step.op].again : tape.ops[step.op].call;
}

Choice keep_all(const Tape& tape) {
  Choice choice(tape.values.size(), RecomputePolicy::Keep);
  for (const std::vector<VarId>& alike : tape.candidates)
    for (const VarId v : alike)
      if (!tape.values[v].read_by_backward) choice[v] = RecomputePolicy::PerUse;
  return choice;
}

std::optional<std::vector<Step>> steps_of(const Tape& tape, const Choice& choice) {
  Walk walk(tape);
  return walk.run(choice) ? std::optional(walk.steps()) : std::nullopt;
}

Course course_of(const Tape& tape, const std::vector<Step>& steps) {
  Walk walk(tape);
  walk.follow(steps);
  return walk.course();
}

std::int64_t least_peak(const Tape& tape) {
  Tape lasting = tape;  // without what may be made again
  for (const std::vector<VarId>& alike : tape.candidates)
    for (const VarId v : alike) lasting.values[v].bytes = 0;
  const auto added = [&](VarId v) { return tape.values[v].bytes - lasting.values[v].bytes; };
  const Course course = course_of(lasting, *steps_of(lasting, keep_all(lasting)));
  std::int64_t least = 0;
  for (std::size_t i = 0; i < tape.ops.size(); ++i) {
    const TapeCall& call = tape.ops[i].call;
    std::int64_t alive = course.alive[i];
    for (const VarId v : call.in) alive += added(v);
    for (const VarId v : call.out) {
      const bool in_place = std::ranges::any_of(call.in_place, [v](const auto& pair) { return pair.second == v; });
      const bool is_read = std::ranges::count(call.in, v) > 0;  // then it is counted already
      if (!is_read) alive += added(v);
      if (in_place) alive -= tape.values[v].bytes;
    }
    least = std::max(least, alive);
  }
  return least;
}

}  // namespace lethe
