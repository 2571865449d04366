#include "optimizer/update.h"

#include "framework/error.h"

namespace lethe {

std::vector<Type> infer_update(const InferArgs& args) {
  const OpDef& def = op_def(args.op.type);
  const std::size_t states = def.outputs.size() - 1;
  const Var& param = args.in(0);
  for (std::size_t slot = 1; slot < def.inputs.size(); ++slot) {
    if (!args.has_in(static_cast<int>(slot))) continue;
    const Var& in = args.in(static_cast<int>(slot));
    const bool counter = def.inputs[slot] == "step";
    const Type expected{slot <= states + 1 ? param.shape : Shape{}, counter ? DType::i64 : param.dtype};
    check(in.shape == expected.shape && in.dtype == expected.dtype, args.op.type, ": ", def.inputs[slot], " is ",
          text_of(in), ", expected ", name_of(expected.dtype), text_of(expected.shape));
  }
  return std::vector<Type>(def.outputs.size(), Type{param.shape, param.dtype});
}

}  // namespace lethe
