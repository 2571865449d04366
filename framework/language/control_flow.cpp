#include "framework/language/control_flow.h"

#include <algorithm>
#include <set>

#include "framework/error.h"
#include "framework/language/views.h"

namespace lethe {
namespace {

/// How many of the inputs are the op's own.
std::size_t own_inputs(const Program& program, const Op& op) {
  return op.type == kWhile ? loop_carried(program, op) : op.type == kIf ? 1 : 0;
}

/// Outer vars that the blocks of an op touch.
struct Touched {
  std::set<VarId> read, written;
};

Touched touched_by(const Program& program, const Op& op) {
  Touched touched;
  std::set<VarId> made;  // written, and not by an update of what was there
  const auto is_outer = [&](VarId v) {
    return v != kNone && std::none_of(op.blocks.begin(), op.blocks.end(),
                                      [&](BlockId body) { return is_inside(program, program.vars[v].block, body); });
  };
  for (const BlockId body : op.blocks)
    for (const Op& inner : program.blocks[body].ops) {
      for (const VarId v : inner.in)
        if (is_outer(v)) touched.read.insert(v);
      for (const VarId v : inner.out) {
        if (!is_outer(v)) continue;
        touched.written.insert(v);
        if (std::find(inner.in.begin(), inner.in.end(), v) == inner.in.end()) made.insert(v);
      }
    }
  for (const VarId v : made) touched.read.erase(v);
  return touched;
}

void check_result(const Program& program, BlockId body, VarId result, const Var& carried, const char* what) {
  const Var& var = program.vars[result];
  check(var.shape == carried.shape && var.dtype == carried.dtype, what, " '", var.name, "' is ", text_of(var),
        ", but '", carried.name, "' is ", text_of(carried));
  check(var.block == body && var.kind == Kind::Temp, what, " '", var.name, "' is not a temp of block ", body);
}

/// So that they can be copied in any order.
void check_own_memory(const Program& program, BlockId body) {
  const std::vector<VarId>& results = program.blocks[body].results;
  for (std::size_t i = 0; i < results.size(); ++i)
    check(has_own_memory(program, body, results, i), "result '", program.vars[results[i]].name, "' of block ", body,
          " has no memory of its own");
}

void check_condition(const Program& program, const char* type, VarId condition) {
  const Var& var = program.vars[condition];
  check(var.dtype == DType::u8 && var.shape.empty(), type, ": the condition '", var.name, "' is ", text_of(var),
        ", expected one truth value, u8[]");
}

void check_while(const Program& program, const Op& op) {
  check(op.blocks.size() == 2, "while: has ", op.blocks.size(), " blocks, expected a condition and a body");
  check(op.attrs.has(kMaxTrips), "while: max_trips is missing; the planner needs a bound of the trips");
  with_context(kWhile, [&] { check_trips(op.attrs.integer(kMaxTrips)); });
  const std::vector<VarId>& tests = program.blocks[op.blocks[0]].results;
  check(tests.size() == 1, "while: the condition block has ", tests.size(), " results, expected 1");
  check_condition(program, "while", tests[0]);
  const std::vector<VarId>& results = program.blocks[op.blocks[1]].results;
  check(!results.empty() && op.in.size() >= results.size() && op.out.size() >= results.size(), "while: carries ",
        results.size(), " values, has ", op.in.size(), " inputs and ", op.out.size(), " outputs");
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Var &carried = program.vars[op.out[i]], &initial = program.vars[op.in[i]];
    check(initial.shape == carried.shape && initial.dtype == carried.dtype, "while: '", carried.name, "' is ",
          text_of(carried), ", but begins as '", initial.name, "', ", text_of(initial));
    check_result(program, op.blocks[1], results[i], carried, "while: after a trip");
  }
  const Var& counter = program.vars[op.out[0]];
  check(counter.dtype == DType::i64 && counter.shape.empty(), "while: the first carried value '", counter.name, "' is ",
        text_of(counter), ", expected the count of trips, i64[]");
  check_own_memory(program, op.blocks[1]);
}

void check_if(const Program& program, const Op& op) {
  check(op.blocks.size() == 2, "if: has ", op.blocks.size(), " blocks, expected then and else");
  check(!op.in.empty(), "if: has no condition");
  check_condition(program, "if", op.in[0]);
  const std::size_t results = loop_carried(program, op);
  for (const BlockId body : op.blocks) {
    check(program.blocks[body].results.size() == results && op.out.size() >= results, "if: block ", body, " gives ",
          program.blocks[body].results.size(), " values, expected ", results);
    for (std::size_t i = 0; i < results; ++i)
      check_result(program, body, program.blocks[body].results[i], program.vars[op.out[i]], "if: result");
    check_own_memory(program, body);
  }
}

}  // namespace

std::size_t loop_carried(const Program& program, const Op& op) {
  const bool is_known = (op.type == kWhile || op.type == kIf) && !op.blocks.empty();
  return is_known ? program.blocks[op.blocks.back()].results.size() : 0;
}

bool is_inside(const Program& program, BlockId block, BlockId outer) {
  while (block != outer && block > 0) block = program.blocks[block].parent;
  return block == outer;
}

std::vector<InPlace> inplace_pairs(const Program& program, const Op& op) {
  std::vector<InPlace> pairs;
  if (op.blocks.empty())
    for (const InPlace& pair : op_def(op.type).inplace)
      if (pair.in < std::ssize(op.in) && op.in[pair.in] != kNone && pair.out < std::ssize(op.out))
        pairs.push_back(pair);
  for (int i = 0; op.type == kWhile && i < static_cast<int>(loop_carried(program, op)); ++i)
    pairs.push_back({.in = i, .out = i});
  return pairs;
}

bool has_own_memory(const Program& program, BlockId block, const std::vector<VarId>& results, std::size_t i) {
  const std::vector<VarId> storage = view_root(program);
  const VarId root = storage[results[i]];
  return program.vars[results[i]].block == block && program.vars[root].block == block &&
         std::none_of(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](VarId v) { return storage[v] == root; });
}

void list_outer_vars(const Program& program, Op& op) {
  const Touched touched = touched_by(program, op);
  op.in.resize(own_inputs(program, op));
  op.out.resize(loop_carried(program, op));
  const std::set<VarId> carried(op.out.begin(), op.out.end());
  for (const VarId v : touched.read)
    if (carried.count(v) == 0) op.in.push_back(v);
  for (const VarId v : touched.written)
    if (carried.count(v) == 0) op.out.push_back(v);
}

void list_outer_vars(Program& program, BlockId block) {
  for (Op& op : program.blocks[block].ops) {
    for (const BlockId body : op.blocks) list_outer_vars(program, body);
    if (!op.blocks.empty()) list_outer_vars(program, op);
  }
}

void check_trips(std::int64_t max_trips) {
  check(max_trips >= 1 && max_trips <= kMostTrips, "max_trips is ", max_trips, ", expected 1 to ", kMostTrips);
}

void check_control_flow(const Program& program, const Op& op) {
  if (op.type == kWhile) check_while(program, op);
  if (op.type == kIf) check_if(program, op);
}

}  // namespace lethe
