#include "framework/builder/builder.h"

#include "framework/builder/layer_call.h"
#include "framework/builder/step_counter.h"
#include "framework/checked.h"
#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "framework/language/weight_blocks.h"

namespace lethe {

VarId Builder::input(const std::string& name, Shape shape) { return input(name, std::move(shape), options_.dtype); }

VarId Builder::input(const std::string& name, Shape shape, DType dtype, Layout layout) {
  check(options_.batch > 0, "batch is ", options_.batch, ", expected at least 1");
  shape.insert(shape.begin(), options_.batch);
  for (const std::int64_t size : shape)
    check(size > 0, "input ", quote(name), " has shape ", text_of(shape), ": sizes must be positive");
  network_.inputs.push_back(
      add_var(network_.program, {.name = name, .shape = shape, .dtype = dtype, .kind = Kind::Input}));
  check(program().vars.back().name == name, "input ", quote(name), " is declared twice");
  if (shape.size() >= 4) network_.layouts.emplace(network_.inputs.back(), shape.size() == 4 ? layout : Layout::Plain);
  return network_.inputs.back();
}

VarId Builder::layer(const std::string& type, std::vector<VarId> in, Attrs settings, std::string path) {
  const Layer& record = layer_named(type);
  path = path_or(std::move(path), record.name);
  const int given = static_cast<int>(in.size());
  check(given >= record.min_inputs && (record.max_inputs < 0 || given <= record.max_inputs), "'", record.name,
        "' takes ", record.min_inputs,
        record.max_inputs < 0                   ? " or more"
        : record.max_inputs > record.min_inputs ? message(" to ", record.max_inputs)
                                                : "",
        " inputs, given ", given);
  LayerCall call(*this, path, std::move(in), checked_settings(record, settings));
  const std::size_t first = program().blocks[block_].ops.size();
  last_ = adapted(record.build(call), first, path);
  return last_;
}

Network Builder::finish(std::vector<VarId> outputs) {
  Network network = network_;
  const VarId absent = network.prediction != kNone ? network.prediction : last_;
  network.outputs = outputs.empty() && absent != kNone ? std::vector<VarId>{absent} : std::move(outputs);
  if (network.sample_loss != kNone)
    network.loss = append_op(network.program, 0, Role::Forward, kMean, {network.sample_loss}, {}, "loss/mean").front();
  mark_weight_blocks(network.program);
  verify(network.program);
  return network;
}

std::string Builder::path_or(std::string path, const std::string& type) {
  return path.empty() ? type + std::to_string(++counts_[type]) : path;
}

std::int64_t Builder::parameters() const {
  std::int64_t sum = 0;
  for (const Var& var : program().vars)
    if (var.kind == Kind::Param) sum = checked_add(sum, elements(var.shape), "the number of parameters");
  return sum;
}

VarId Builder::add_param(Kind kind, const std::string& name, Shape shape, DType dtype, ParamInfo info) {
  info.var = add_var(network_.program, {.name = name, .shape = std::move(shape), .dtype = dtype, .kind = kind});
  if (kind == Kind::Param && options_.frozen.contains(name)) network_.frozen.insert(info.var);
  check(program().vars.back().name == name, quote(name), " is there already: two layers have the same path");
  network_.params.push_back(info);
  return info.var;
}

VarId Builder::copy_of(VarId param) {
  const auto [at, is_new] = copies_.try_emplace({block_, param}, kNone);
  if (is_new) {
    const Attrs attrs{{"dtype", std::string(name_of(options_.dtype))}};
    at->second = append_op(network_.program, block_, Role::Forward, kCast, {param}, attrs,
                           message(program().vars[param].name, '.', name_of(options_.dtype)))
                     .front();
  }
  return at->second;
}

VarId Builder::step_counter() {
  if (step_ == kNone) step_ = add_param(Kind::State, kStepCounter, {}, DType::i64, {});
  return step_;
}

}  // namespace lethe
