#include "onnx/importer.h"

#include <algorithm>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "onnx/import_state.h"

namespace lethe::onnx {
namespace {

const ImportTable& import_table() {
  static const ImportTable table = [] {
    ImportTable all;
    add_constant_imports(all);
    add_image_imports(all);
    add_matrix_imports(all);
    add_elementwise_imports(all);
    return all;
  }();
  return table;
}

std::vector<std::string> known_types() {
  std::vector<std::string> types;
  for (const auto& [type, import] : import_table()) types.push_back(type);
  return types;
}

void import_node(ImportState& state, const ReadNode& node) {
  check_as(Exit::Data, !node.outputs.empty(), node.text(), ": has no output");
  if (state.is_taken(node) || fold_constants(state, node)) return;
  const auto found = import_table().find(node.type);
  check_as(Exit::Data, found != import_table().end(), node.text(), ": no ", shortened(node.type), " is read",
           did_you_mean(node.type, known_types()));
  try {
    found->second(state, node);
  } catch (const Error& error) {
    const std::string said = error.what(), who = node.text();
    fail_as(Exit::Data, said.starts_with(who) ? said : message(who, ": ", said));
  }
}

/// The model without a softmax that gives its first output, which a loss of logits has in it.
ReadModel without_softmax(ReadModel model, std::vector<std::string>& notes) {
  const auto last = std::ranges::find_if(model.nodes, [&](const ReadNode& node) {
    return node.type == "Softmax" && !model.outputs.empty() &&
           std::ranges::count(node.outputs, model.outputs[0].name) > 0;
  });
  if (last == model.nodes.end() || last->inputs.empty()) return model;
  notes.push_back(message(last->text(), " at the end is left out: cross_entropy takes logits"));
  model.outputs[0].name = last->inputs[0];
  model.nodes.erase(last);
  return model;
}

void add_loss(ImportState& state, const std::string& loss, const LayerValue& out) {
  Json& network = state.result.network;
  const bool is_classes = loss == "cross_entropy";
  const char* const target = is_classes ? "label" : "target";
  check_as(Exit::Data, !network["inputs"].contains(target), "has an input ", quote(target),
           ", which the loss would be of");
  Shape labels = out.shape;
  if (is_classes) labels.erase(labels.size() == 3 ? labels.begin() : labels.end() - 1);  // the classes
  network["inputs"][target] = {{"shape", labels}};
  if (is_classes) network["inputs"][target]["dtype"] = "i32";
  network["loss"] = Json::array({{{"op", loss}, {"in", out.layer}, {"target", target}}});
}

void note_folded_norms(const ImportState& state, std::vector<std::string>& notes) {
  const auto count = [&](const char* type, std::size_t inputs) {
    return std::ranges::count_if(
        state.model.nodes, [&](const ReadNode& node) { return node.type == type && node.inputs.size() >= inputs; });
  };
  if (count("BatchNormalization", 1) == 0 && count("Conv", 3) >= 10)
    notes.push_back(
        "there are convolutions with biases and no batch norm: an export for inference folds these into the weights, "
        "and "
        "drops dropout, so this may be another network than the one that was trained; torch.onnx.export keeps them "
        "with "
        "training=TrainingMode.TRAINING and do_constant_folding=False");
}

}  // namespace

Imported imported(const ReadModel& given, const std::string& loss) {
  std::vector<std::string> notes;
  const ReadModel model = loss == "cross_entropy" ? without_softmax(given, notes) : given;
  ImportState state(model);
  Json& network = state.result.network;
  const Json inputs = network.contains("inputs") ? network["inputs"] : Json::object();
  network = {{"version", 1}, {"name", model.name.empty() ? "imported" : shortened(model.name)}};
  network["inputs"] = inputs, network["layers"] = Json::array();
  check_as(Exit::Data, !inputs.empty(), "no node reads an input");
  for (const ReadNode& node : model.nodes) import_node(state, node);
  check_as(Exit::Data, !model.outputs.empty(), "has no output");
  std::vector<LayerValue> outputs;
  for (const ValueInfo& output : model.outputs) {
    check_as(Exit::Data, state.has_value(output.name), "output ", quote(output.name), " is made by no node");
    outputs.push_back(state.made(output.name));
  }
  if (loss.empty())
    for (const LayerValue& output : outputs) network["outputs"].push_back(output.layer);
  else
    add_loss(state, loss, outputs[0]);
  note_folded_norms(state, notes);
  state.result.notes = notes;
  return std::move(state.result);
}

}  // namespace lethe::onnx
