#include "framework/ranks/trip_updates.h"

#include <map>
#include <string>
#include <utility>

#include "framework/error.h"
#include "framework/language/control_flow.h"

namespace lethe {
namespace {

Attrs counter_at_zero() { return {{"shape", Ints{}}, {"dtype", "i64"}, {"value", 0}}; }

class Noting {
 public:
  explicit Noting(Program& program) : program_(program) {}

  std::vector<NotedUpdate> run() && {
    std::vector<Op> ops = std::exchange(program_.blocks[0].ops, {});
    for (Op& op : ops) {
      if (updates_state(program_, op)) note_updated(op, false);
      go_into(op, 1);  // what it needs in block 0 comes before the op
      program_.blocks[0].ops.push_back(std::move(op));
    }
    list_outer_vars(program_, 0);
    return std::move(noted_);
  }

 private:
  /// `runs`: how often the op itself runs at most.
  void go_into(const Op& op, std::int64_t runs) {
    for (std::size_t i = 0; i < op.blocks.size(); ++i) {
      // A condition is asked once more than there are trips.
      const std::int64_t times = op.type == kWhile ? op.attrs.integer(kMaxTrips) + (i == 0 ? 1 : 0) : 1;
      std::int64_t all = 0;  // or, if that cannot be counted, more than may be noted
      if (__builtin_mul_overflow(runs, times, &all)) all = INT64_MAX;
      rewrite(op.blocks[i], all);
    }
  }

  void rewrite(BlockId block, std::int64_t runs) {
    std::vector<Op> ops = std::exchange(program_.blocks[block].ops, {});
    for (Op& op : ops) {
      go_into(op, runs);
      if (updates_state(program_, op))
        note(std::move(op), block, runs);
      else
        program_.blocks[block].ops.push_back(std::move(op));
    }
  }

  void note(Op op, BlockId block, std::int64_t runs) {
    note_updated(op, true);
    const std::string state = program_.vars[op.out[0]].name;
    check(runs <= kMostTrips, "several ranks: '", state, "' may be updated ", runs, " times a step in loops, at most ",
          kMostTrips, " are noted");
    const std::string name = state + "@RUNS";
    const VarId count = made(kFillConstant, counter_at_zero(), name);
    NotedUpdate noted{std::move(op), kNone, runs};
    for (VarId* const v : values_read(program_, noted)) {
      Shape shape = program_.vars[*v].shape;
      shape.insert(shape.begin(), runs);
      const Attrs like{{"shape", shape}, {"dtype", std::string(name_of(program_.vars[*v].dtype))}};
      const VarId all = made(kEmpty, like, name + "/noted");
      append_update(program_, block, kArrayWrite, {all, *v, count});
      *v = all;
    }
    append_update(program_, block, "increment", {count});
    noted.runs = count;
    noted_.push_back(std::move(noted));
  }

  VarId made(const char* type, Attrs attrs, const std::string& name) {
    return append_op(program_, 0, Role::Forward, type, {}, std::move(attrs), name).front();
  }

  void note_updated(const Op& op, bool in_trip) {
    for (const VarId v : op.out) {
      const auto [before, is_first] = in_trip_.emplace(v, in_trip);
      check(is_first || (!in_trip && !before->second), "several ranks: '", program_.vars[v].name,
            "' is updated in two places, one of them in a loop or a branch");
    }
  }

  Program& program_;
  std::map<VarId, bool> in_trip_ = {};  // of what is updated
  std::vector<NotedUpdate> noted_ = {};
};

BlockId add_block(Program& program) {
  program.blocks.push_back({.parent = 0});
  return static_cast<BlockId>(program.blocks.size()) - 1;
}

}  // namespace

bool updates_state(const Program& program, const Op& op) {
  return op_def(op.type).updates && program.vars[op.out[0]].kind == Kind::State;
}

std::vector<VarId*> values_read(const Program& program, NotedUpdate& noted) {
  std::vector<VarId*> values;
  for (VarId& v : noted.op.in)
    if (v != kNone && !is_persistable(program.vars[v].kind)) values.push_back(&v);
  if (noted.runs != kNone) values.push_back(&noted.runs);
  return values;
}

std::vector<NotedUpdate> note_trip_updates(Program& program) { return Noting(program).run(); }

void append_noted(Program& program, const NotedUpdate& noted) {
  if (noted.runs == kNone) {
    program.blocks[0].ops.push_back(noted.op);
    return;
  }
  const std::string name = program.vars[noted.op.out[0]].name + "@RUNS";
  const auto append = [&](BlockId block, const char* type, std::vector<VarId> in, Attrs attrs, const char* suffix) {
    return append_op(program, block, Role::Optimize, type, std::move(in), std::move(attrs), name + suffix);
  };
  Op loop{.type = kWhile,
          .attrs = {{kMaxTrips, noted.most}},
          .blocks = {add_block(program), add_block(program)},
          .role = Role::Optimize};
  loop.in = append(0, kFillConstant, {}, counter_at_zero(), "/zero");
  const VarId run = add_var(program, {.name = name + ".run", .shape = {}, .dtype = DType::i64});
  loop.out = {run};
  program.blocks[loop.blocks[0]].results = append(loop.blocks[0], kLess, {run, noted.runs}, {}, "/condition");
  NotedUpdate each{noted.op};
  for (VarId* const v : values_read(program, each))
    *v = append(loop.blocks[1], kArrayRead, {*v, run}, {}, "/read").front();
  program.blocks[loop.blocks[1]].ops.push_back(std::move(each.op));
  program.blocks[loop.blocks[1]].results = append(loop.blocks[1], kOffset, {run}, {{"by", 1}}, "/next");
  list_outer_vars(program, loop);
  with_context(name, [&] { check_control_flow(program, loop); });
  program.blocks[0].ops.push_back(std::move(loop));
}

}  // namespace lethe
