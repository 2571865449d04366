// Loops and branches of the Builder.
#include "framework/builder/builder.h"
#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

/// Layers go to another block until the end of a scope.
class Inside {
 public:
  Inside(BlockId& current, BlockId block) : current_(current), before_(current) { current_ = block; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { current_ = before_; }

 private:
  BlockId& current_;
  const BlockId before_;
};

}  // namespace

VarId Builder::trip() const {
  check(!trips_.empty(), "there is no loop whose trips could be counted");
  return trips_.back();
}

BlockId Builder::open_block() {
  network_.program.blocks.push_back({.parent = block_});
  return static_cast<BlockId>(network_.program.blocks.size()) - 1;
}

Vars Builder::in_block(BlockId block, const std::string& path, const std::function<Vars()>& build) {
  Program& program = network_.program;
  const Inside inside(block_, block);
  Vars results = build();
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!has_own_memory(program, block, results, i)) results[i] = append(kAssign, {results[i]}, {}, path).front();
  return results;
}

Vars Builder::loop(const Vars& initial, std::int64_t max_trips, const std::function<VarId(const Vars&)>& condition,
                   const std::function<Vars(const Vars&)>& body, std::string path, bool recompute) {
  Program& program = network_.program;
  path = path_or(std::move(path), "loop");
  with_context(path, [&] { check_trips(max_trips); });
  Op op{.type = kWhile, .attrs = {{kMaxTrips, max_trips}}, .blocks = {open_block(), open_block()}};
  if (recompute) op.attrs.set(kRecompute, 1);
  const Attrs zero{{"shape", Ints{}}, {"dtype", "i64"}, {"value", 0}};
  op.in = append_op(program, block_, Role::Forward, kFillConstant, {}, zero, path + "/zero");
  op.in.insert(op.in.end(), initial.begin(), initial.end());
  for (std::size_t i = 0; i < op.in.size(); ++i) {
    const Var first = program.vars[op.in[i]];
    const std::string name = i == 0 ? path + ".trip" : message(path, '.', i);
    op.out.push_back(add_var(program, {.name = name, .shape = first.shape, .dtype = first.dtype, .block = block_}));
    carry_layout(op.in[i], op.out[i], path);
  }
  const Vars carried(op.out.begin() + 1, op.out.end());
  trips_.push_back(op.out[0]);
  program.blocks[op.blocks[0]].results = in_block(op.blocks[0], path + "/condition", [&] {
    const Attrs most{{"value", max_trips}};
    return condition ? Vars{condition(carried)}
                     : append_op(program, block_, Role::Forward, kLess, {op.out[0]}, most, path + "/condition");
  });
  program.blocks[op.blocks[1]].results = in_block(op.blocks[1], path + "/next", [&] {
    Vars next = body(carried);
    check(next.size() == carried.size(), path, ": carries ", carried.size(), " values, its body gives ", next.size());
    for (std::size_t i = 0; i < next.size(); ++i) carry_layout(next[i], carried[i], path);
    next.insert(
        next.begin(),
        append_op(program, block_, Role::Forward, kOffset, {op.out[0]}, {{"by", 1}}, path + "/next_trip").front());
    return next;
  });
  trips_.pop_back();
  list_outer_vars(program, op);
  with_context(path, [&] { check_control_flow(program, op); });
  program.blocks[block_].ops.push_back(op);
  return carried;
}

Vars Builder::branch(VarId condition, const std::function<Vars()>& then, const std::function<Vars()>& otherwise,
                     std::string path) {
  Program& program = network_.program;
  path = path_or(std::move(path), "branch");
  Op op{.type = kIf, .in = {condition}, .blocks = {open_block(), open_block()}};
  for (std::size_t side = 0; side < 2; ++side) {
    const std::string name = path + (side == 0 ? "/then" : "/else");
    program.blocks[op.blocks[side]].results = in_block(op.blocks[side], name, side == 0 ? then : otherwise);
  }
  const Vars &results = program.blocks[op.blocks[0]].results, &other = program.blocks[op.blocks[1]].results;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Var result = program.vars[results[i]];
    const std::string name = results.size() == 1 ? path : message(path, '.', i + 1);
    op.out.push_back(add_var(program, {.name = name, .shape = result.shape, .dtype = result.dtype, .block = block_}));
    carry_layout(results[i], op.out.back(), path);
  }
  for (std::size_t i = 0; i < std::min(op.out.size(), other.size()); ++i) carry_layout(other[i], op.out[i], path);
  list_outer_vars(program, op);
  with_context(path, [&] { check_control_flow(program, op); });
  program.blocks[block_].ops.push_back(op);
  return {op.out.begin(), op.out.begin() + static_cast<std::ptrdiff_t>(results.size())};
}

}  // namespace lethe
