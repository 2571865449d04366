#include "optimizer/update.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/ranks/peers.h"
#include "kernels/peers_of.h"

namespace lethe {

namespace {

/// Of the share that any rank has.
Shape shape_of_share(const Var& param, const InferArgs& args) {
  if (!args.op.attrs.has(kRanks)) return param.shape;
  return {size_of_share(elements(param.shape), own_rank_of(args).of)};
}

bool is_step(std::string_view slot) { return slot == "step" || slot == "step?"; }

/// The dtype of a state in 8 bits: of squares, which have no sign, and of others.
DType coded_state(std::string_view slot) {
  return slot == "v" || slot == "square" ? DType::udynamic8 : DType::dynamic8;
}

/// A rank's share must not begin within a block.
void check_blocks_of_share(const InferArgs& args) {
  if (!args.op.attrs.has(kRanks)) return;
  const std::int64_t share = shape_of_share(args.in(0), args)[0];
  check(share % kDynamicBlock == 0, args.op.type, ": a share of ", share, " is no number of blocks of ", kDynamicBlock);
}

}  // namespace

UpdatePart part_of(const PrepareArgs& args) {
  const Attrs& attrs = args.op.attrs;
  const std::int64_t count = elements(args.out(0).shape);
  if (!attrs.has(kRanks)) return {0, 0, count};
  const Share share = share_of(count, {attrs.integer(kRank), attrs.integer(kRanks)});
  const Var& gradient = args.in(op_def(args.op.type).gradient);
  return {share.begin, gradient.shape == args.out(0).shape ? share.begin : 0, share.count};
}

bool goes_by_blocks(const PrepareArgs& args) {
  if (args.out(0).dtype == DType::bf16) return true;
  for (std::size_t slot = 1; slot < args.op.out.size(); ++slot)
    if (is_in_blocks(args.out(static_cast<int>(slot)).dtype)) return true;
  return false;
}

int step_slot(const Op& op) {
  const std::vector<std::string>& slots = op_def(op.type).inputs;
  const auto found = std::find_if(slots.begin(), slots.end(), [](const std::string& s) { return is_step(s); });
  return found == slots.end() ? -1 : static_cast<int>(found - slots.begin());
}

DType checked_wide(const InferArgs& args) {
  const Var& param = args.in(0);
  const DType wide = wide_of(param.dtype);
  check(param.dtype == wide || param.dtype == DType::bf16, args.op.type, ": param is ", text_of(param),
        ", expected f32, f64 or bf16");
  const Attrs& attrs = args.op.attrs;
  const int step = step_slot(args.op);
  const bool can_round = step >= 0 && args.has_in(step) && attrs.has(kRoundingKey) && attrs.has(kRoundingFirst);
  check(param.dtype == wide || can_round, args.op.type, ": param in bf16 needs a step, `", kRoundingKey, "` and `",
        kRoundingFirst, "`, by which it is rounded");
  return wide;
}

std::vector<Type> infer_update(const InferArgs& args) {
  const OpDef& def = op_def(args.op.type);
  const std::size_t states = def.outputs.size() - 1;
  const Var& param = args.in(0);
  const Shape share = shape_of_share(param, args);
  const DType wide = checked_wide(args);
  std::vector<Type> types = {{param.shape, param.dtype}};
  for (std::size_t slot = 1; slot < def.inputs.size(); ++slot) {
    if (!args.has_in(static_cast<int>(slot))) continue;
    const Var& in = args.in(static_cast<int>(slot));
    const bool whole = slot == states + 1 && in.shape == param.shape;
    Type expected{whole                ? param.shape
                  : slot <= states + 1 ? share
                                       : Shape{},
                  is_step(def.inputs[slot]) ? DType::i64 : wide};
    if (slot <= states && in.dtype == coded_state(def.inputs[slot])) expected.dtype = in.dtype;
    const DType dtype = static_cast<int>(slot) == def.gradient && is_float(in.dtype) ? wide_of(in.dtype) : in.dtype;
    check(in.shape == expected.shape && dtype == expected.dtype, args.op.type, ": ", def.inputs[slot], " is ",
          text_of(in), ", expected ", name_of(expected.dtype), text_of(expected.shape));
    if (slot <= states) types.push_back({share, in.dtype});
    if (slot <= states && is_in_blocks(in.dtype)) check_blocks_of_share(args);
  }
  return types;
}

}  // namespace lethe
