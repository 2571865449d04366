#include "memopt/sharing.h"

#include <algorithm>
#include <numeric>

#include "framework/op_def.h"
#include "framework/plan.h"

namespace lethe {
namespace {

/// Storages while they grow: each is known by its root, the var it was made for.
class Storages {
 public:
  Storages(const Program& program, const Liveness& live, const std::vector<Pin>& pins)
      : program_(program), root_(storage_of(program)), made_(program.vars.size()) {
    for (std::size_t v = 0; v < root_.size(); ++v) {
      const auto root = static_cast<std::size_t>(root_[v]);
      made_[root].life = joined(made_[root].life, live.vars[v]);
      if (pins[root] != Pin::None)
        made_[root].pin = pins[root];
      else if (made_[root].pin == Pin::None)
        made_[root].pin = pins[v];
    }
    for (std::size_t v = 0; v < root_.size(); ++v) {
      if (root_[v] != static_cast<VarId>(v)) continue;
      made_[v].root = static_cast<VarId>(v);
      made_[v].bytes = bytes_of(program.vars[v]);
      if (made_[v].pin != Pin::None) made_[v].life.dies = kForever;
    }
  }

  VarId root(VarId v) {
    while (root_[v] != root_[root_[v]]) root_[v] = root_[root_[v]];
    return root_[v];
  }
  const Storage& of(VarId v) { return made_[root(v)]; }
  bool is_own(VarId v) const { return root_[v] == v; }

  /// `output`, which has a storage of its own, goes into that of `input`.
  void merge(VarId output, VarId input) {
    Storage& into = made_[root(input)];
    into.life = joined(into.life, made_[output].life);
    root_[output] = into.root;
  }

  Sharing finish() {
    Sharing sharing;
    sharing.of.resize(root_.size());
    for (std::size_t v = 0; v < root_.size(); ++v) {
      if (!is_own(static_cast<VarId>(v))) continue;
      sharing.of[v] = static_cast<int>(sharing.storages.size());
      sharing.storages.push_back(made_[v]);
    }
    for (std::size_t v = 0; v < root_.size(); ++v) sharing.of[v] = sharing.of[root(static_cast<VarId>(v))];
    return sharing;
  }

 private:
  const Program& program_;
  std::vector<VarId> root_;
  std::vector<Storage> made_;  // by root
};

/// The inputs whose memory the op would write output `slot` into.
std::vector<VarId> offered(const Op& op, int slot) {
  std::vector<VarId> inputs;
  for (const InPlace& pair : op_def(op.type).inplace)
    if (pair.out == slot && pair.in < static_cast<int>(op.in.size()) && op.in[pair.in] != kNone)
      inputs.push_back(op.in[pair.in]);
  return inputs;
}

/// Why `output` cannot take the memory of `input` at this op; "" if it can.
std::string_view obstacle(const Program& program, Storages& storages, const Op& op, BlockId block, Step step,
                          VarId input, VarId output) {
  const Storage& from = storages.of(input);
  const Storage& own = storages.of(output);
  if (from.pin != Pin::None) return reason_of(from.pin);
  if (own.pin != Pin::None) return "would be pinned with it";
  if (from.bytes < own.bytes) return "is smaller";
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

}  // namespace

Sharing share_views(const Program& program, const Liveness& live, const std::vector<Pin>& pins) {
  return Storages(program, live, pins).finish();
}

Sharing share_in_place(const Program& program, const Liveness& live, const std::vector<Pin>& pins, Log& log,
                       const std::function<bool(VarId input, VarId output)>& wanted) {
  Storages storages(program, live, pins);
  const auto name = [&](VarId v) -> const std::string& { return program.vars[v].name; };
  for (Step step = 0; step < live.steps(); ++step) {
    const auto [block, index] = live.at[step];
    const Op& op = program.blocks[block].ops[index];
    for (int slot = 0; slot < static_cast<int>(op.out.size()); ++slot) {
      const VarId output = op.out[slot];
      VarId best = kNone;
      for (const VarId input : offered(op, slot)) {
        if (wanted && !wanted(input, output)) continue;
        const std::string_view why = obstacle(program, storages, op, block, step, input, output);
        if (!why.empty())
          log.add("inplace ", index, ", ", name(output), " not in ", name(input), ", which ", why);
        else if (best == kNone || storages.of(input).life.born > storages.of(best).life.born)
          best = input;
      }
      if (best == kNone) continue;
      storages.merge(output, best);
      log.add("inplace ", index, ", ", name(output), " in ", name(best));
    }
  }
  return storages.finish();
}

}  // namespace lethe
