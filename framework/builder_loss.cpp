// The losses of a network: for each sample one number, the weighted sum of all; finish() takes its mean.
#include "framework/builder.h"
#include "framework/error.h"
#include "framework/op_def.h"

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
  throw SettingError(
      "op", message("unknown loss ", quote(type), did_you_mean(type, loss_names()), "; known: ", joined(loss_names())));
}

bool takes_labels(const std::string& type) { return type == "cross_entropy" || type == "nll"; }

Attrs attrs_of(const std::string& type, double label_smoothing) {
  if (label_smoothing == 0) return {};
  if (type != "cross_entropy") throw SettingError("label_smoothing", message("'", type, "' has no label_smoothing"));
  if (!(label_smoothing > 0 && label_smoothing < 1))
    throw SettingError("label_smoothing", message("label_smoothing is ", label_smoothing, ", expected 0 to below 1"));
  return {{"label_smoothing", label_smoothing}};
}

}  // namespace

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const auto& [name, op] : loss_ops()) names.push_back(name);
  return names;
}

void Builder::loss(const std::string& type, VarId prediction, VarId target, const LossSettings& settings) {
  const std::string op = loss_op(type), name = path_or("", "loss");
  const auto append = [&](const std::string& what, std::vector<VarId> in, Attrs attrs, const std::string& as) {
    return this->append(what, std::move(in), std::move(attrs), as);
  };
  if (network_.sample_loss != kNone && settings.ignore != network_.ignored)
    throw SettingError("ignore", "all losses must ignore the same label, or none: their mean is over the same samples");
  VarId label = target, share = kNone;
  if (settings.ignore) {
    if (!takes_labels(type)) throw SettingError("ignore", message("'", type, "' has no labels to ignore"));
    const std::vector<VarId> made =
        append("ignore_label", {target},
               {{"ignore", *settings.ignore},
                {"dtype", std::string(name_of(wide_of(network_.program.vars[prediction].dtype)))}},
               name + "/label");
    label = made[0], share = made[1];
  }
  VarId sample = append(op, {prediction, label}, attrs_of(type, settings.label_smoothing), name).front();
  if (share != kNone && options_.training) sample = append("mul", {sample, share}, {}, name + "/shared").front();
  if (settings.weight != 1)
    sample = append("scale", {sample}, {{"a", settings.weight}, {"b", 0.0}}, name + "/weighted").front();
  if (network_.sample_loss != kNone) {
    network_.sample_loss = append("add", {network_.sample_loss, sample}, {}, name + "/sum").front();
    return;
  }
  network_.sample_loss = sample;
  network_.target = target;
  network_.prediction = prediction;
  network_.ignored = settings.ignore;
  if (takes_labels(type)) network_.correct = append("accuracy", {prediction, label}, {{"k", 1}}, "accuracy").front();
}

}  // namespace lethe
