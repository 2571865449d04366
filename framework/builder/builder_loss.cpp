// The losses of a network: for each label one number, for each sample if there are none, the weighted sum of all;
// finish() takes its mean.
#include <algorithm>
#include <cmath>

#include "framework/builder/builder.h"
#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

/// The op that gives each sample's loss. One that is a layer computes logits of its own and never has them all.
const std::map<std::string, std::string>& loss_ops() {
  static const std::map<std::string, std::string> ops = {{"cross_entropy", "softmax_cross_entropy"},
                                                         {"nll", "nll_loss"},
                                                         {"mse", "mse_loss"},
                                                         {"l1", "l1_loss"},
                                                         {"huber", "huber_loss"},
                                                         {"bce", "sigmoid_cross_entropy"},
                                                         {"linear_cross_entropy", "linear_cross_entropy"}};
  return ops;
}

const std::string& loss_op(const std::string& type) {
  const auto found = loss_ops().find(type);
  if (found != loss_ops().end()) return found->second;
  throw SettingError(
      "op", message("unknown loss ", quote(type), did_you_mean(type, loss_names()), "; known: ", joined(loss_names())));
}

bool takes_labels(const std::string& type) { return type == "cross_entropy" || type == "nll" || is_layer_loss(type); }

double huber_delta(const Attrs& settings) {
  const double delta = settings.has("delta") ? settings.number("delta") : 1;
  if (!(delta > 0 && std::isfinite(delta)))
    throw SettingError("delta", message("delta is ", delta, ", expected more than 0"));
  return delta;
}

Attrs attrs_of(const std::string& type, const LossSettings& settings) {
  const double label_smoothing = settings.label_smoothing;
  if (type != "huber" && settings.layer.has("delta")) throw SettingError("delta", message("'", type, "' has no delta"));
  if (type == "huber" && label_smoothing == 0) return {{"delta", huber_delta(settings.layer)}};
  if (label_smoothing == 0) return {};
  if (type != "cross_entropy") throw SettingError("label_smoothing", message("'", type, "' has no label_smoothing"));
  if (!(label_smoothing > 0 && label_smoothing < 1))
    throw SettingError("label_smoothing", message("label_smoothing is ", label_smoothing, ", expected 0 to below 1"));
  return {{"label_smoothing", label_smoothing}};
}

/// A further loss, for each label of the first: one of a whole sample counts for each of its labels, and of one of
/// labels within them their mean does. So the mean of the sum is the sum of the means.
VarId in_shape(Program& program, VarId loss, const Shape& first, const std::string& name) {
  Shape shape = program.vars[loss].shape;
  const auto common = static_cast<std::ptrdiff_t>(std::min(shape.size(), first.size()));
  check(std::equal(first.begin(), first.begin() + common, shape.begin()), name,
        ": neither of two losses is for parts of the other: ", text_of(first), " and ", text_of(shape));
  Ints within;
  for (std::size_t axis = first.size(); axis < shape.size(); ++axis) within.push_back(static_cast<std::int64_t>(axis));
  if (!within.empty())
    return append_op(program, 0, Role::Forward, kMean, {loss}, {{"axes", within}}, name + "/mean").front();
  if (shape.size() == first.size()) return loss;
  shape.resize(first.size(), 1);
  return append_op(program, 0, Role::Forward, kReshape, {loss}, {{"shape", shape}}, name + "/each").front();
}

}  // namespace

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const auto& [name, op] : loss_ops()) names.push_back(name);
  return names;
}

bool is_layer_loss(const std::string& type) { return !op_def(loss_op(type)).layer.name.empty(); }

Op Builder::layer_loss(const std::string& type, VarId x, VarId label, const LossSettings& settings,
                       const std::string& name) {
  Attrs of = settings.layer;
  if (settings.label_smoothing != 0) of.set("label_smoothing", settings.label_smoothing);
  const VarId last = last_;
  layer(type, {x, label}, of, name);
  Op made = program().blocks[block_].ops.back();
  if (options_.logits && network_.sample_loss == kNone) {
    Attrs fc{{"out", shape(made.in[1])[0]}, {"flatten", 0}, {"bias", made.in[2] != kNone}, {"share", name}};
    if (of.has("share")) fc.set("share", of.text("share"));
    network_.prediction = layer("fc", x, fc, name + "/logits");
  }
  last_ = last;
  return made;
}

VarId Builder::class_weights(DType dtype, std::int64_t classes) {
  VarId& made = network_.class_weights;
  if (made == kNone)
    made =
        add_var(network_.program, {.name = "class_weights", .shape = {classes}, .dtype = dtype, .kind = Kind::State});
  const Var& var = program().vars[made];
  check(var.shape == Shape{classes} && var.dtype == dtype, "`class_weights`: losses tell ", var.shape[0], " and ",
        classes, " classes apart");
  return made;
}

Builder::Counted Builder::counted_labels(const std::string& type, VarId prediction, VarId target,
                                         std::optional<std::int64_t> ignore, const LossSettings& settings,
                                         const std::string& name) {
  const bool weighs = options_.class_weights && options_.training && takes_labels(type);
  if (ignore && !takes_labels(type)) throw SettingError("ignore", message("'", type, "' has no labels to ignore"));
  if (!ignore && !weighs) return {.label = target};
  const DType dtype = wide_of(program().vars[prediction].dtype);
  Vars in = {target};
  if (weighs) {
    check(settings.label_smoothing == 0 && settings.layer.number("label_smoothing", 0) == 0,
          "`class_weights` goes without label_smoothing, which gives a sample a share of every class");
    in.push_back(class_weights(dtype, is_layer_loss(type) ? settings.layer.integer("out") : shape(prediction).back()));
  }
  const Vars made = append("ignore_label", in,
                           {{"ignore", ignore.value_or(-1)}, {"dtype", std::string(name_of(dtype))}}, name + "/label");
  return {.label = made[0], .share = made[1]};
}

void Builder::loss(const std::string& type, VarId prediction, VarId target, const LossSettings& settings) {
  const std::string op = loss_op(type), name = path_or("", "loss");
  const auto append = [&](const std::string& what, std::vector<VarId> in, Attrs attrs, const std::string& as) {
    return this->append(what, std::move(in), std::move(attrs), as);
  };
  const std::optional<std::int64_t> ignore = takes_labels(type) && !settings.ignore ? options_.ignore : settings.ignore;
  if (network_.sample_loss != kNone && ignore != network_.ignored)
    throw SettingError("ignore", "all losses must ignore the same label, or none: their mean is over the same samples");
  const auto [label, share] = counted_labels(type, prediction, target, ignore, settings, name);
  VarId sample = kNone, correct = kNone;
  std::int64_t classes = 0;
  if (is_layer_loss(type)) {
    const Op made = layer_loss(type, prediction, label, settings, settings.name.empty() ? name : settings.name);
    sample = made.out.front(), correct = made.out.back(), classes = shape(made.in[1])[0];
  } else {
    sample = append(op, {prediction, label}, attrs_of(type, settings), name).front();
  }
  if (share != kNone && options_.training) sample = append("mul", {sample, share}, {}, name + "/shared").front();
  if (settings.weight != 1)
    sample = append(kScale, {sample}, {{"a", settings.weight}, {"b", 0.0}}, name + "/weighted").front();
  if (network_.sample_loss != kNone) {
    if (share != kNone && shape(sample) != shape(network_.sample_loss))  // shares are of each one's own labels
      throw SettingError(ignore ? "ignore" : "op", message("losses that ", ignore ? "ignore a label" : "weigh classes",
                                                           " must be of one shape, found ", text_of(shape(sample)),
                                                           " after ", text_of(shape(network_.sample_loss))));
    sample = in_shape(network_.program, sample, shape(network_.sample_loss), name);
    network_.sample_loss = append(kAdd, {network_.sample_loss, sample}, {}, name + "/sum").front();
    return;
  }
  network_.sample_loss = sample;
  network_.target = target;
  network_.ignored = ignore;
  network_.correct = correct;
  network_.classes = classes;
  if (is_layer_loss(type)) return;
  network_.prediction = prediction;
  if (!takes_labels(type)) return;
  network_.correct = append("accuracy", {prediction, label}, {{"k", 1}}, "accuracy").front();
  network_.classes = shape(prediction).back();
}

}  // namespace lethe
