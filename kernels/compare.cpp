#include "kernels/compare.h"

#include "framework/builder/layer_call.h"
#include "kernels/number.h"

namespace lethe {

std::vector<Type> infer_comparison(const InferArgs& args) {
  const bool has_value = args.op.attrs.has("value");
  check(args.has_in(1) != has_value, args.op.type, ": give a second input or a value", has_value ? ", not both" : "");
  if (args.has_in(1)) return {{broadcast_type(args).shape, DType::u8}};
  const double value = args.op.attrs.number("value");
  check(holds(args.in(0).dtype, value), args.op.type, ": value is ", value, ", which no ", name_of(args.in(0).dtype),
        " is");
  return {{args.in(0).shape, DType::u8}};
}

std::vector<Type> infer_logic(const InferArgs& args) {
  for (int slot = 0; slot < static_cast<int>(args.op.in.size()); ++slot)
    check(args.in(slot).dtype == DType::u8, args.op.type, ": input ", slot, " is ", text_of(args.in(slot)),
          ", expected u8");
  return {args.op.in.size() == 1 ? Type{args.in(0).shape, DType::u8} : broadcast_type(args)};
}

Layer comparison_layer(std::string name, std::string alias, BuildLayer build, std::string help) {
  return {.name = std::move(name),
          .aliases = {std::move(alias)},
          .keys = {{.name = "value",
                    .type = KeyType::Number,
                    .help = "compared with, instead of a second input",
                    .optional = true}},
          .min_inputs = 1,
          .max_inputs = 2,
          .build = build,
          .help = std::move(help)};
}

VarId build_comparison(LayerCall& call, const std::string& type, Commutes commutes) {
  Attrs attrs;
  if (call.settings().has("value")) attrs.set("value", call.settings().number("value"));
  return call.inputs() == 2 ? emit_pair(call, type, call.in(0), call.in(1), commutes, attrs)
                            : call.emit(type, {call.in()}, attrs);
}

}  // namespace lethe
