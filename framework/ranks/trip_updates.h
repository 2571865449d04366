// Updates of states that loops and branches make as often as the data asks for, made where all parts of a batch are
// known instead: each run notes what it would read, and a loop after them all makes the updates.
#pragma once
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// Whether an op changes what all parts of a batch change in turn.
bool updates_state(const Program& program, const Op& op);

struct NotedUpdate {
  Op op;                  // what it reads beside states: arrays of block 0, with an entry for each of `most` runs
  VarId runs = kNone;     // how many there were, an i64 scalar; kNone: runs once, in block 0, and `op` is as it stands
  std::int64_t most = 1;  // runs
};

/// Where it says what it reads beside params and states, `runs` among that.
std::vector<VarId*> values_read(const Program& program, NotedUpdate& noted);

/// Lets the updates of states within loops and branches of block 0 note what they would read; gives them, in order.
/// Fails if two of them, or one and an op of block 0, update the same state: nobody would know their order.
std::vector<NotedUpdate> note_trip_updates(Program& program);

/// Appends to block 0 what makes the update, for each run in order.
void append_noted(Program& program, const NotedUpdate& noted);

}  // namespace lethe
