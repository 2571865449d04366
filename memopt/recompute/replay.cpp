#include "memopt/recompute/replay.h"

#include <algorithm>

#include "framework/clone.h"
#include "framework/op_def.h"

namespace lethe {
namespace {

const TapeCall& call_of(const Tape& tape, const Step& step) {
  return step.again ? tape.ops[step.op].again : tape.ops[step.op].call;
}

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
      if (!make_again(i)) return std::nullopt;
      append({.op = i});
    }
    return std::move(steps_);
  }

 private:
  bool is_there(VarId v, int i) const {
    if (i < tape_.values[v].turn || choice_[v] == Keep::Kept || (choice_[v] == Keep::Again && repeated_[v]))
      return true;
    return now_ - touched_[v] <= (choice_[v] == Keep::Each ? 0 : kClose);
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
    const bool rest_is_kept =
        std::all_of(op.call.out.begin() + 1, op.call.out.end(), [&](VarId v) { return choice_[v] == Keep::Kept; });
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
  std::vector<bool> repeated_;       // by value: it was made again
  std::vector<int> asked_, listed_;  // by value, by op: the last op for which it was looked at
  std::vector<VarId> open_;
  std::vector<int> makers_;
  std::vector<Step> steps_;
};

}  // namespace

Choice keep_all(const Tape& tape) {
  Choice choice(tape.values.size(), Keep::Kept);
  for (const std::vector<VarId>& alike : tape.candidates)
    for (const VarId v : alike)
      if (!tape.values[v].read_by_backward) choice[v] = Keep::Each;
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
        instances[p.out].born != p.step || tape.values[instances[p.out].value].lasts)
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

namespace {

/// Copies ops of a program into another order, with vars of their own where they run once more.
class Rewriting {
 public:
  Rewriting(const Program& program, const Tape& tape)
      : tape_(tape),
        from_(program.blocks[0].ops),
        made_(program),
        now_(program.vars.size()),
        copies_(now_.size()),
        copy_of_root_(now_.size()),
        shown_by_(now_.size(), -1) {
    for (std::size_t v = 0; v < now_.size(); ++v) now_[v] = static_cast<VarId>(v);
    for (std::size_t i = 0; i < from_.size(); ++i)
      if (tape.ops[i].is_view)
        for (const Op& op = from_[i]; const VarId v : op.out) shown_by_[v] = static_cast<int>(i);
    made_.blocks[0].ops.clear();
  }

  Program run(const std::vector<Step>& steps) && {
    for (const Step& step : steps)
      if (step.repeated)
        repeat(step);
      else
        move(step.op);
    return std::move(made_);
  }

 private:
  void move(int index) {
    Op op = from_[index];
    for (VarId& v : op.in)
      if (v != kNone) v = current(v);
    if (tape_.ops[index].is_view && op_def(op.type).view == ViewOf::Whole)
      copies_[op.out[0]] = copy_of_root_[tape_.root[op.out[0]]];
    made_.blocks[0].ops.push_back(std::move(op));
  }

  void repeat(const Step& step) {
    const Op& forward = from_[step.op];
    append(step.again ? op_def(forward.type).again(forward) : forward);
    for (const VarId v : call_of(tape_, step).out) ++copy_of_root_[v];
    const Op& last = made_.blocks[0].ops.back();
    for (std::size_t i = 0; i < last.out.size(); ++i) {
      now_[forward.out[i]] = last.out[i];
      copies_[forward.out[i]] = copy_of_root_[tape_.root[forward.out[i]]];
    }
  }

  void append(Op op) {
    op.role = Role::Backward;
    for (VarId& v : op.in)
      if (v != kNone) v = current(v);
    for (VarId& v : op.out) v = clone_var(made_, v, 0);
    made_.blocks[0].ops.push_back(std::move(op));
  }

  /// The var that has its value now; makes the view of a copy where there is none yet.
  VarId current(VarId v) {
    const int copy = copy_of_root_[tape_.root[v]];
    if (copies_[v] != copy) {
      append(from_[shown_by_[v]]);
      now_[v] = made_.blocks[0].ops.back().out[0];
      copies_[v] = copy;
    }
    return now_[v];
  }

  const Tape& tape_;
  const std::vector<Op>& from_;
  Program made_;
  std::vector<VarId> now_;         // by VarId of `program`: the var that has its value
  std::vector<int> copies_;        // by VarId: of which copy of its root that is; 0: of the first
  std::vector<int> copy_of_root_;  // by VarId: how often it was made again
  std::vector<int> shown_by_;      // by VarId: the op that makes it a view
};

}  // namespace

Program repeated(const Program& program, const Tape& tape, const std::vector<Step>& steps) {
  return Rewriting(program, tape).run(steps);
}

}  // namespace lethe
