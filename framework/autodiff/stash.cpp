#include "framework/autodiff/stash.h"

#include <algorithm>
#include <iterator>

#include "framework/language/op_def.h"

namespace lethe {

VarId Stash::keep(VarId var, const std::vector<StashLoop>& loops, BlockId owner, BlockId block, bool at_begin) {
  const Var kept = program_.vars[var];
  Shape shape;
  for (const StashLoop& loop : loops) shape.push_back(loop.max_trips);
  shape.insert(shape.end(), kept.shape.begin(), kept.shape.end());
  const VarId stash = add_var(
      program_,
      {.name = kept.name + "@STASH", .shape = shape, .dtype = kept.dtype, .block = program_.blocks[owner].parent});
  before_[owner].push_back(
      {.type = kEmpty, .out = {stash}, .attrs = {{"shape", shape}, {"dtype", std::string(name_of(kept.dtype))}}});
  Op write{.type = kArrayWrite, .in = {stash, var}, .out = {stash}};
  for (const StashLoop& loop : loops) write.in.push_back(loop.forward);
  if (at_begin)
    begin_[block].push_back(std::move(write));
  else
    after_[{block, var}] = std::move(write);
  return stash;
}

void Stash::hoist(VarId var, BlockId block) {
  home_.emplace(var, program_.vars[var].block);
  program_.vars[var].block = block;
}

bool Stash::can_hoist(VarId var) const {
  const Block& block = program_.blocks[program_.vars[var].block];
  const auto has = [var](const std::vector<VarId>& vars) {
    return std::find(vars.begin(), vars.end(), var) != vars.end();
  };
  return !has(block.results) && std::none_of(block.ops.begin(), block.ops.end(),
                                             [&](const Op& op) { return !op.blocks.empty() && has(op.out); });
}

BlockId Stash::block_of(VarId var) const {
  const auto moved = home_.find(var);
  return moved == home_.end() ? program_.vars[var].block : moved->second;
}

void Stash::finish() {
  for (std::size_t b = 0; b < program_.blocks.size(); ++b) finish_block(static_cast<BlockId>(b));
}

void Stash::finish_block(BlockId block) {
  std::vector<Op> ops = std::move(program_.blocks[block].ops);
  std::map<VarId, std::size_t> last_write;
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (const VarId v : ops[i].out) last_write[v] = i;
  std::vector<Op> all = std::move(begin_[block]);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!ops[i].blocks.empty()) {
      std::vector<Op>& before = before_[ops[i].blocks.front()];
      std::move(before.begin(), before.end(), std::back_inserter(all));
    }
    const std::vector<VarId> written = ops[i].out;
    all.push_back(std::move(ops[i]));
    for (const VarId v : written)
      if (const auto write = after_.find({block, v}); write != after_.end() && last_write[v] == i)
        all.push_back(write->second);
  }
  program_.blocks[block].ops = std::move(all);
}

}  // namespace lethe
