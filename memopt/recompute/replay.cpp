#include "memopt/recompute/replay.h"

#include <algorithm>

namespace lethe {

const TapeCall& call_of(const Tape& tape, const Step& step) {
  return step.again ? tape.ops[step.op].again : tape.ops[step.op].call;
}

namespace {

/// Goes through the ops and puts before each what it needs again.
class Unrolling {
 public:
  Unrolling(const Tape& tape, const Choice& choice)
      : tape_(tape),
        choice_(choice),
        touched_(choice.size(), -kClose - 1),
        repeated_(choice.size()),
        asked_(choice.size(), -1),
        listed_(tape.ops.size(), -1) {}

  std::optional<std::vector<Step>> run() && {
    steps_.reserve(tape_.ops.size() * 2);
    for (int i = 0; i < static_cast<int>(tape_.ops.size()); ++i) {
      if (i == tape_.second_pass) repeated_.assign(repeated_.size(), false);
      if (!make_again(i)) return std::nullopt;
      append({.op = i});
    }
    return std::move(steps_);
  }

 private:
  bool is_there(VarId v, int i) const {
    if (i < tape_.values[v].turn || choice_[v] == RecomputePolicy::Keep ||
        (choice_[v] == RecomputePolicy::Once && repeated_[v]))
      return true;
    return now_ - touched_[v] <= (choice_[v] == RecomputePolicy::PerCluster ? kClose : 0);
  }

  /// What op `i` reads and is not there, with all that takes; false if that cannot be had any more.
  bool make_again(int i) {
    std::vector<VarId>& open = open_;
    std::vector<int>& makers = makers_;
    open = tape_.ops[i].call.in;
    makers.clear();
    while (!open.empty()) {
      const VarId v = open.back();
      open.pop_back();
      const int maker = tape_.values[v].maker;
      if (maker < 0 || asked_[v] == i || is_there(v, i)) continue;
      asked_[v] = i;
      if (listed_[maker] == i) continue;
      if (tape_.ops[maker].until < i) return false;
      listed_[maker] = i;
      makers.push_back(maker);
      const TapeCall& call = call_of(tape_, repeated_step(maker));
      open.insert(open.end(), call.in.begin(), call.in.end());
    }
    std::sort(makers.begin(), makers.end());
    for (const int maker : makers) append(repeated_step(maker));
    return true;
  }

  /// In the form that gives output 0 alone, if all else that the op gives is kept.
  Step repeated_step(int maker) const {
    const TapeOp& op = tape_.ops[maker];
    const bool rest_is_kept = std::all_of(op.call.out.begin() + 1, op.call.out.end(),
                                          [&](VarId v) { return choice_[v] == RecomputePolicy::Keep; });
    return {.op = maker, .repeated = true, .again = op.has_again && rest_is_kept};
  }

  void append(Step step) {
    steps_.push_back(step);
    const TapeCall& call = call_of(tape_, step);
    if (!tape_.ops[step.op].is_view) ++now_;
    for (const VarId v : call.in) touched_[v] = now_;
    for (const VarId v : call.out) {
      touched_[v] = now_;
      repeated_[v] = repeated_[v] || step.repeated;
    }
  }

  const Tape& tape_;
  const Choice& choice_;
  int now_ = 0;                      // kernels run so far
  std::vector<int> touched_;         // by value: when it was last written or read
  std::vector<bool> repeated_;       // by value: it was made again, in this pass
  std::vector<int> asked_, listed_;  // by value, by op: the last op for which it was looked at
  std::vector<VarId> open_;
  std::vector<int> makers_;
  std::vector<Step> steps_;
};

}  // namespace

Choice keep_all(const Tape& tape) {
  Choice choice(tape.values.size(), RecomputePolicy::Keep);
  for (const std::vector<VarId>& alike : tape.candidates)
    for (const VarId v : alike)
      if (!tape.values[v].read_by_backward) choice[v] = RecomputePolicy::PerUse;
  return choice;
}

std::optional<std::vector<Step>> steps_of(const Tape& tape, const Choice& choice) {
  return Unrolling(tape, choice).run();
}

Course course_of(const Tape& tape, const std::vector<Step>& steps) {
  Course course;
  std::vector<Instance>& instances = course.instances;
  instances.reserve(steps.size() * 2);
  std::vector<int> current(tape.values.size(), -1);
  std::int64_t always = 0;  // what is there before the first step
  for (std::size_t v = 0; v < tape.values.size(); ++v)
    if (tape.values[v].given) always += tape.values[v].bytes;
  struct Pair {
    int step, in, out;  // instances
  };
  /// Less if the later of the operands is made by an op that does this one's work, too.
  const auto seconds_of = [&](const TapeCall& call) {
    for (const TapeJoin& join : call.joins) {
      const int made = current[join.value];
      const bool is_last = made >= 0 && steps[instances[made].born].repeated &&
                           std::all_of(call.in.begin(), call.in.end(), [&](VarId v) { return current[v] <= made; });
      if (is_last) return join.seconds;
    }
    return call.seconds;
  };
  std::vector<Pair> pairs;
  pairs.reserve(steps.size());
  course.alive.assign(steps.size() + 1, 0);
  for (int s = 0; s < static_cast<int>(steps.size()); ++s) {
    const Step& step = steps[s];
    const TapeCall& call = call_of(tape, step);
    if (step.repeated) course.seconds += seconds_of(call);
    for (const VarId v : call.in)
      if (current[v] >= 0) instances[current[v]].last = s;
    const std::size_t before = pairs.size();
    for (const auto& [in, out] : call.in_place)
      if (current[in] >= 0 && (step.repeated || current[out] < 0)) pairs.push_back({s, current[in], out});
    for (const VarId v : call.out) {
      if (tape.values[v].given || tape.values[v].bytes == 0) continue;
      if (current[v] >= 0 && !step.repeated) {
        instances[current[v]].last = s;
        continue;
      }
      current[v] = static_cast<int>(instances.size());
      instances.push_back({v, s, s});
    }
    for (std::size_t p = before; p < pairs.size(); ++p) pairs[p].out = current[pairs[p].out];
    if (!tape.ops[step.op].is_view) {
      course.alive[s] += call.workspace;
      course.alive[s + 1] -= call.workspace;
    }
  }
  for (Instance& i : instances) {
    if (tape.values[i.value].lasts) i.last = static_cast<int>(steps.size()) - 1;
    const std::int64_t bytes = tape.values[i.value].bytes;
    course.alive[i.born] += bytes;
    course.alive[i.last + 1] -= bytes;
  }
  std::vector<bool> taken(instances.size()), placed(instances.size());  // inputs, outputs: each is in one pair at most
  for (const Pair& p : pairs) {
    if (p.out < 0 || taken[p.in] || placed[p.out] || instances[p.in].last != p.step ||
        tape.values[instances[p.in].value].lasts || instances[p.out].born != p.step ||
        tape.values[instances[p.out].value].lasts)
      continue;
    const std::int64_t bytes = tape.values[instances[p.out].value].bytes;
    if (bytes > tape.values[instances[p.in].value].bytes) continue;
    taken[p.in] = placed[p.out] = true;
    course.alive[p.step] -= bytes;
    course.alive[p.step + 1] += bytes;
  }
  course.alive.pop_back();
  std::int64_t now = always;
  for (std::int64_t& alive : course.alive) {
    now += alive;
    alive = now;
    course.peak = std::max(course.peak, now);
  }
  return course;
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
