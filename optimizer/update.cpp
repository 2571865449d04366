#include "optimizer/update.h"

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

}  // namespace

UpdatePart part_of(const PrepareArgs& args) {
  const Attrs& attrs = args.op.attrs;
  const std::int64_t count = elements(args.out(0).shape);
  if (!attrs.has(kRanks)) return {0, 0, count};
  const Share share = share_of(count, {attrs.integer(kRank), attrs.integer(kRanks)});
  const Var& gradient = args.in(op_def(args.op.type).gradient);
  return {share.begin, gradient.shape == args.out(0).shape ? share.begin : 0, share.count};
}

std::vector<Type> infer_update(const InferArgs& args) {
  const OpDef& def = op_def(args.op.type);
  const std::size_t states = def.outputs.size() - 1;
  const Var& param = args.in(0);
  const Shape share = shape_of_share(param, args);
  for (std::size_t slot = 1; slot < def.inputs.size(); ++slot) {
    if (!args.has_in(static_cast<int>(slot))) continue;
    const Var& in = args.in(static_cast<int>(slot));
    const bool counter = def.inputs[slot] == "step", whole = slot == states + 1 && in.shape == param.shape;
    const Type expected{whole ? param.shape : slot <= states + 1 ? share : Shape{}, counter ? DType::i64 : param.dtype};
    const DType dtype = static_cast<int>(slot) == def.gradient && is_float(in.dtype) ? wide_of(in.dtype) : in.dtype;
    check(in.shape == expected.shape && dtype == expected.dtype, args.op.type, ": ", def.inputs[slot], " is ",
          text_of(in), ", expected ", name_of(expected.dtype), text_of(expected.shape));
  }
  std::vector<Type> types(def.outputs.size(), Type{share, param.dtype});
  types[0].shape = param.shape;
  return types;
}

}  // namespace lethe
