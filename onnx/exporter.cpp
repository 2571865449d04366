#include "onnx/exporter.h"

#include <algorithm>
#include <set>

#include "framework/error.h"
#include "onnx/op_table.h"

namespace lethe::onnx {
namespace {

const OpTable& op_table() {
  static const OpTable table = [] {
    OpTable all;
    add_elementwise_ops(all);
    add_image_ops(all);
    add_shape_ops(all);
    add_product_ops(all);
    add_norm_ops(all);
    add_attention_ops(all);
    return all;
  }();
  return table;
}

std::vector<VarId> results_of(const Network& network) {
  if (network.prediction != kNone) return {network.prediction};
  check(network.loss == kNone || !network.outputs.empty(), network.name, ": has no prediction that could be exported");
  return network.outputs;
}

/// Those of the ops, in their order, without which the results would not be there.
std::vector<const Op*> ops_to(const Program& program, const std::vector<VarId>& results) {
  std::set<VarId> needed(results.begin(), results.end());
  std::vector<const Op*> ops;
  const std::vector<Op>& all = program.blocks[0].ops;
  for (auto op = all.rbegin(); op != all.rend(); ++op) {
    if (std::ranges::none_of(op->out, [&](VarId id) { return needed.contains(id); })) continue;
    needed.insert(op->in.begin(), op->in.end());
    ops.push_back(&*op);
  }
  std::ranges::reverse(ops);
  return ops;
}

void emit(Emitter& emitter, const Op& op) {
  const auto found = op_table().find(op.type);
  const std::string& made = emitter.var(op.out.front()).name;
  check(op.blocks.empty(), "ONNX: '", made, "' is made by ", op.type,
        ": networks with loops or branches cannot be exported");
  check(found != op_table().end(), "ONNX: '", made, "' is made by ", op.type, ", which cannot be exported");
  try {
    found->second(emitter, op);
  } catch (const Error& error) {
    fail("'", made, "': ", error.what());
  }
}

}  // namespace

Model exported(const ExportSource& source) {
  const Program& program = source.network.program;
  check(source.other_batch.program.vars.size() == program.vars.size(), "ONNX: the network depends on its batch");
  const std::vector<VarId> results = results_of(source.network);
  const std::vector<const Op*> ops = ops_to(program, results);
  Emitter emitter(source);
  for (const VarId input : source.network.inputs)
    if (std::ranges::any_of(ops, [&](const Op* op) { return std::ranges::count(op->in, input) > 0; }))
      emitter.add_input(input);
  for (const Op* op : ops) emit(emitter, *op);
  for (const VarId result : results) emitter.add_output(result);
  Model model = emitter.finish();
  model.name = source.network.name;
  return model;
}

}  // namespace lethe::onnx
