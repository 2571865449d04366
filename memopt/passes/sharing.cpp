#include "memopt/passes/sharing.h"

#include <algorithm>
#include <numeric>

#include "framework/language/control_flow.h"
#include "framework/language/views.h"
#include "memopt/analysis/carry.h"

namespace lethe {
namespace {

/// Storages while they grow: each is known by its root, the var it was made for.
class Storages {
 public:
  Storages(const Program& program, const Liveness& live, const std::vector<Pin>& pins)
      : program_(program), roots_(roots_of(program)), made_(program.vars.size()) {
    for (std::size_t v = 0; v < made_.size(); ++v) {
      const auto root = static_cast<std::size_t>(this->root(static_cast<VarId>(v)));
      made_[root].life = hull(made_[root].life, live.vars[v]);
      if (pins[root] != Pin::None)
        made_[root].pin = pins[root];
      else if (made_[root].pin == Pin::None)
        made_[root].pin = pins[v];
    }
    const std::vector<Tick> begins = loop_begins(program, live);
    for (std::size_t v = 0; v < made_.size(); ++v) {
      if (!is_own(static_cast<VarId>(v))) continue;
      made_[v].root = static_cast<VarId>(v);
      made_[v].bytes = bytes_of(program.vars[v]);
      if (made_[v].pin != Pin::None) made_[v].life = hull(made_[v].life, {begins[program.vars[v].block], kForever});
    }
  }

  VarId root(VarId v) { return roots_.find(v).root; }
  std::int64_t offset(VarId v) { return roots_.find(v).offset; }
  const Storage& of(VarId v) { return made_[root(v)]; }
  bool is_own(VarId v) { return root(v) == v; }

  /// Bytes from the begin of the input's storage to that of the output's if these two are to lie at one place.
  std::int64_t distance(VarId output, VarId input) { return offset(input) - offset(output); }
  /// Whether the input has room for the output, and its storage for all that the output's holds; of a storage that the
  /// output does not need whole the input is all, so that no more lives on than has to.
  bool has_room(VarId output, VarId input) {
    const std::int64_t room = span_of(program_.vars[input]), of_input = of(input).bytes, of_output = of(output).bytes;
    return span_of(program_.vars[output]) <= room && (of_output == of_input || room == of_input) &&
           distance(output, input) >= 0 && distance(output, input) + of_output <= of_input;
  }
  /// Whether the elements of both lie in the same way. Rows apart begin anywhere, so both storages must begin at one
  /// place, or that of the output would not be aligned.
  bool lie_alike(VarId output, VarId input) {
    const Var &y = program_.vars[output], &x = program_.vars[input];
    if (y.pitch != x.pitch) return false;
    return y.pitch == 0 || (row_of(y.shape) == row_of(x.shape) && distance(output, input) == 0);
  }

  /// The storage of `output` goes into that of `input`.
  void merge(VarId output, VarId input) {
    Storage& into = made_[root(input)];
    into.life = hull(into.life, of(output).life);
    roots_.add({.var = output, .in = input, .offset = 0});
  }

  Sharing finish() {
    Sharing sharing;
    sharing.of.resize(made_.size());
    sharing.offset.resize(made_.size());
    for (std::size_t v = 0; v < made_.size(); ++v) {
      if (!is_own(static_cast<VarId>(v))) continue;
      sharing.of[v] = static_cast<int>(sharing.storages.size());
      sharing.storages.push_back(made_[v]);
    }
    for (std::size_t v = 0; v < made_.size(); ++v) {
      sharing.of[v] = sharing.of[root(static_cast<VarId>(v))];
      sharing.offset[v] = offset(static_cast<VarId>(v));
    }
    return sharing;
  }

 private:
  const Program& program_;
  Roots roots_;
  std::vector<Storage> made_;  // by root
};

/// The inputs whose memory the op would write output `slot` into.
std::vector<VarId> offered(const Program& program, const Op& op, int slot) {
  std::vector<VarId> inputs;
  for (const InPlace& pair : inplace_pairs(program, op))
    if (pair.out == slot) inputs.push_back(op.in[pair.in]);
  return inputs;
}

/// Why `output` cannot take the memory of `input` at this op; "" if it can.
std::string_view obstacle(const Program& program, Storages& storages, const Op& op, BlockId block, Tick step,
                          VarId input, VarId output) {
  const Storage& from = storages.of(input);
  const Storage& own = storages.of(output);
  if (from.pin != Pin::None) return reason_of(from.pin);
  if (own.pin != Pin::None) return "would be pinned with it";
  if (own.life.born != step) return "is younger than what lies with the output";
  if (!storages.lie_alike(output, input)) return "has its rows elsewhere";
  if (!storages.has_room(output, input)) return "is smaller";
  if (from.life.dies != step + 1) return "is needed later";
  const auto reads =
      std::count_if(op.in.begin(), op.in.end(), [&](VarId v) { return v != kNone && storages.root(v) == from.root; });
  if (reads != 1) return "is read twice by the op";
  if (std::any_of(op.out.begin(), op.out.end(), [&](VarId v) { return storages.root(v) == from.root; }))
    return "is taken by another output";
  for (const VarId v : {from.root, input, output})
    if (program.vars[v].block != block) return "is of another block";
  return "";
}

/// Gives the storages of a program's vars away, op by op.
class Sharer {
 public:
  using Wanted = std::function<bool(VarId input, VarId output)>;
  Sharer(const Program& program, const Liveness& live, const std::vector<Pin>& pins, Log& log, const Wanted& wanted)
      : program_(program), live_(live), log_(log), wanted_(wanted), storages_(program, live, pins) {}

  Sharing run() && {
    for (Tick step = 0; step < live_.ticks(); ++step) {
      const auto [block, index] = live_.at[step];
      const Op& op = program_.blocks[block].ops[index];
      const OpTicks steps = live_.ops[block][index];
      for (int slot = 0; step == steps.first && slot < static_cast<int>(op.out.size()); ++slot)
        take_input(op, slot, step);
      for (std::size_t i = 0; step == steps.last && i < loop_carried(program_, op); ++i) take_results(op, i, steps);
    }
    return storages_.finish();
  }

 private:
  void take_input(const Op& op, int slot, Tick step) {
    const auto [block, index] = live_.at[step];
    const VarId output = op.out[slot];
    VarId best = kNone;
    for (const VarId input : offered(program_, op, slot)) {
      if (wanted_ && !wanted_(input, output)) continue;
      const std::string_view why = obstacle(program_, storages_, op, block, step, input, output);
      if (!why.empty())
        log_.add("inplace ", index, ", ", name(output), " not in ", name(input), ", which ", why);
      else if (best == kNone || storages_.of(input).life.born > storages_.of(best).life.born)
        best = input;
    }
    if (best == kNone) return;
    storages_.merge(output, best);
    log_.add("inplace ", index, ", ", name(output), " in ", name(best));
  }

  /// What a loop carries, or a branch gives, is made in its own memory, where that is free by then.
  void take_results(const Op& op, std::size_t i, OpTicks steps) {
    const int index = live_.at[steps.first].second;
    for (const VarId result : results_for(program_, op, i)) {
      if (wanted_ && !wanted_(result, op.out[i])) continue;
      const std::string_view why = obstacle_to_result(result, op.out[i]);
      if (why.empty()) storages_.merge(result, op.out[i]);
      log_.add("inplace ", index, ", ", name(result), why.empty() ? " in " : " not in ", name(op.out[i]),
               why.empty() ? "" : ", which ", why);
    }
  }

  std::string_view obstacle_to_result(VarId result, VarId carried) {
    const BlockId body = program_.vars[result].block;
    const Storage& into = storages_.of(carried);
    const Storage& own = storages_.of(result);
    if (into.pin != Pin::None) return reason_of(into.pin);
    if (own.pin != Pin::None) return "would be pinned with it";
    if (!storages_.lie_alike(result, carried)) return "has its rows elsewhere";
    if (!storages_.has_room(result, carried)) return "is smaller";
    if (program_.vars[own.root].block != body) return "is of another block";
    const LastRead last = last_read(program_, live_, body, [&](VarId v) { return storages_.root(v) == into.root; });
    const bool hands_over =
        std::any_of(last.over_it.begin(), last.over_it.end(), [&](VarId v) { return storages_.root(v) == own.root; });
    const bool is_over = last.step < own.life.born || (last.step == own.life.born && hands_over);
    return is_over ? "" : "is read later in the trip";
  }

  const std::string& name(VarId v) const { return program_.vars[v].name; }

  const Program& program_;
  const Liveness& live_;
  Log& log_;
  const Wanted& wanted_;
  Storages storages_;
};

}  // namespace

std::vector<Place> places_of(const Sharing& sharing, const std::vector<Place>& storages) {
  std::vector<Place> places;
  for (std::size_t v = 0; v < sharing.of.size(); ++v) {
    Place& place = places.emplace_back(storages[static_cast<std::size_t>(sharing.of[v])]);
    if (place.buffer >= 0) place.offset += sharing.offset[v];
  }
  return places;
}

Sharing share_views(const Program& program, const Liveness& live, const std::vector<Pin>& pins) {
  return Storages(program, live, pins).finish();
}

Sharing share_in_place(const Program& program, const Liveness& live, const std::vector<Pin>& pins, Log& log,
                       const std::function<bool(VarId input, VarId output)>& wanted) {
  return Sharer(program, live, pins, log, wanted).run();
}

}  // namespace lethe
