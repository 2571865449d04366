// Loops and branches: what the ops `while` and `if` say. Their blocks are run by the executor itself.
//
//   while: in = [initial values, outer vars that the blocks touch], out = [carried vars, outer vars that they write],
//          blocks = {condition, body}, `max_trips`. The carried vars are vars of the op's own block: they begin as the
//          initial values, are read by both blocks, and become the body's results between any two trips. The first
//          one is an i64 scalar that counts the trips from 0. The condition's one result is a u8 scalar; the body runs
//          while it is not 0, at most `max_trips` times.
//   if:    in = [condition, outer vars that the blocks touch], out = [the results, outer vars that the blocks write],
//          blocks = {then, else}, with as many results each.
#pragma once
#include "framework/language/core_ops.h"
#include "framework/language/op_def.h"
#include "framework/language/program.h"

namespace lethe {

inline constexpr const char* kMaxTrips = "max_trips";
/// A bound far above any loop that is worth its time, so that a wrong number ends in a line and not in a step that
/// nobody sees the end of.
inline constexpr std::int64_t kMostTrips = 1000000;
inline constexpr const char* kRecompute = "recompute";  // of a while: backward runs the body again

/// How many of its outputs a while or an if makes of the results of its blocks; 0 for any other op.
std::size_t loop_carried(const Program& program, const Op& op);

/// Whether `block` is `outer` or lies in it.
bool is_inside(const Program& program, BlockId block, BlockId outer);

/// The pairs by which an op may write an output over an input: those it declares; a loop begins what it carries in the
/// memory of the initial value.
std::vector<InPlace> inplace_pairs(const Program& program, const Op& op);

/// Whether result `i` of a block can be handed on as it is: a temp of the block in memory that no earlier result is in.
bool has_own_memory(const Program& program, BlockId block, const std::vector<VarId>& results, std::size_t i);

/// Lists after the inputs and outputs that are the op's own each outer var that its blocks touch, by id: in the
/// inputs what they read or update in place, in the outputs what they write. Ops in those blocks have been done before.
void list_outer_vars(const Program& program, Op& op);
/// The same for all ops of a block and of the blocks in it.
void list_outer_vars(Program& program, BlockId block);

/// Fails unless a loop may have so many trips at most.
void check_trips(std::int64_t max_trips);

/// Fails unless a while or an if is as described above; does nothing for other ops.
void check_control_flow(const Program& program, const Op& op);

}  // namespace lethe
