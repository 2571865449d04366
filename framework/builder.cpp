#include "framework/builder.h"

#include "framework/error.h"
#include "framework/op_def.h"
#include "framework/verify.h"

namespace lethe {
namespace {

/// The op that gives each sample's loss.
const std::map<std::string, std::string>& loss_ops() {
  static const std::map<std::string, std::string> ops = {{"cross_entropy", "softmax_cross_entropy"},
                                                         {"nll", "nll_loss"},
                                                         {"mse", "mse_loss"},
                                                         {"l1", "l1_loss"},
                                                         {"bce", "sigmoid_cross_entropy"}};
  return ops;
}

const std::string& loss_op(const std::string& type) {
  const auto found = loss_ops().find(type);
  if (found != loss_ops().end()) return found->second;
  std::string known;
  for (const std::string& name : loss_names()) known.append(known.empty() ? "" : ", ").append(name);
  throw SettingError("op", message("unknown loss '", type, "'", did_you_mean(type, loss_names()), "; known: ", known));
}

}  // namespace

VarId Builder::input(const std::string& name, Shape shape) { return input(name, std::move(shape), options_.dtype); }

VarId Builder::input(const std::string& name, Shape shape, DType dtype) {
  check(options_.batch > 0, "batch is ", options_.batch, ", expected at least 1");
  shape.insert(shape.begin(), options_.batch);
  for (const std::int64_t size : shape)
    check(size > 0, "input '", name, "' has shape ", text_of(shape), ": sizes must be positive");
  network_.inputs.push_back(
      add_var(network_.program, {.name = name, .shape = shape, .dtype = dtype, .kind = Kind::Input}));
  check(program().vars.back().name == name, "input '", name, "' is declared twice");
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
  last_ = record.build(call);
  return last_;
}

void Builder::loss(const std::string& type, VarId prediction, VarId target, double weight, double label_smoothing) {
  const std::string op = loss_op(type);
  const std::string name = path_or("", "loss");
  Program& program = network_.program;
  Attrs attrs;
  if (label_smoothing != 0) {
    if (type != "cross_entropy") throw SettingError("label_smoothing", message("'", type, "' has no label_smoothing"));
    if (!(label_smoothing > 0 && label_smoothing < 1))
      throw SettingError("label_smoothing", message("label_smoothing is ", label_smoothing, ", expected 0 to below 1"));
    attrs.set("label_smoothing", label_smoothing);
  }
  VarId sample = append_op(program, 0, Role::Forward, op, {prediction, target}, attrs, name).front();
  if (weight != 1)
    sample = append_op(program, 0, Role::Forward, "scale", {sample}, {{"a", weight}, {"b", 0.0}}, name + "/weighted")
                 .front();
  if (network_.sample_loss != kNone) {
    network_.sample_loss =
        append_op(program, 0, Role::Forward, "add", {network_.sample_loss, sample}, {}, name + "/sum").front();
    return;
  }
  network_.sample_loss = sample;
  network_.target = target;
  network_.prediction = prediction;
  if (type == "cross_entropy" || type == "nll")
    network_.correct =
        append_op(program, 0, Role::Forward, "accuracy", {prediction, target}, {{"k", 1}}, "accuracy").front();
}

Network Builder::finish(std::vector<VarId> outputs) {
  Network network = network_;
  const VarId absent = network.prediction != kNone ? network.prediction : last_;
  network.outputs = outputs.empty() && absent != kNone ? std::vector<VarId>{absent} : std::move(outputs);
  if (network.sample_loss != kNone)
    network.loss = append_op(network.program, 0, Role::Forward, "mean", {network.sample_loss}, {}, "loss/mean").front();
  verify(network.program);
  return network;
}

std::string Builder::path_or(std::string path, const std::string& type) {
  return path.empty() ? type + std::to_string(++counts_[type]) : path;
}

std::int64_t Builder::parameters() const {
  std::int64_t sum = 0;
  for (const Var& var : program().vars)
    if (var.kind == Kind::Param) sum += elements(var.shape);
  return sum;
}

VarId Builder::add_param(Kind kind, const std::string& name, Shape shape, DType dtype, ParamInfo info) {
  info.var = add_var(network_.program, {.name = name, .shape = std::move(shape), .dtype = dtype, .kind = kind});
  check(program().vars.back().name == name, "'", name, "' is there already: two layers have the same path");
  network_.params.push_back(info);
  return info.var;
}

VarId Builder::step_counter() {
  if (step_ == kNone) step_ = add_param(Kind::State, "step", {}, DType::i64, {});
  return step_;
}

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const auto& [name, op] : loss_ops()) names.push_back(name);
  return names;
}

}  // namespace lethe
