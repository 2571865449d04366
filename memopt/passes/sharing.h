// Which vars are in the same memory: a var and its views, and outputs that take the memory of an input that dies with
// their op. Everything after this acts on storages, not on vars.
#pragma once
#include <functional>
#include <vector>

#include "framework/run/plan.h"
#include "memopt/analysis/liveness.h"
#include "memopt/analysis/pins.h"
#include "memopt/passes/log.h"

namespace lethe {

struct Storage {
  VarId root = kNone;      // the var it was made for, whose shape and dtype it has
  std::int64_t bytes = 0;  // of the root: whatever else is in it is not larger
  Life life = {};          // of all its vars together; up to kForever if it is pinned
  Pin pin = Pin::None;     // the root's own, else that of the first of its views that has one
};

struct Sharing {
  std::vector<int> of;               // by VarId: index into storages
  std::vector<std::int64_t> offset;  // by VarId: bytes from the begin of that storage
  std::vector<Storage> storages;     // in order of their roots
};

/// Views are in the storage of what they show; every other var has one of its own.
Sharing share_views(const Program& program, const Liveness& live, const std::vector<Pin>& pins);

/// Beyond that, an output takes the memory of an input where the op declares the pair and
///  - the input's storage is a temp's, not pinned, and dies with this op;
///  - the output has room there, with all that its own memory holds, of which nothing was written before; the rows of
///    both are equally far apart; and a part is not taken for which all of its root would live on;
///  - the op reads that storage through one input only;
///  - output, input and op are in one block, so in one trip of a loop.
/// Of several such inputs it takes the one born last. The order of operands is never changed. With `wanted`, only those
/// pairs that it agrees to.
Sharing share_in_place(const Program& program, const Liveness& live, const std::vector<Pin>& pins, Log& log,
                       const std::function<bool(VarId input, VarId output)>& wanted = {});

/// The places of all vars, by VarId, where `storages` are those of their storages.
std::vector<Place> places_of(const Sharing& sharing, const std::vector<Place>& storages);

}  // namespace lethe
