#include "onnx/importer.h"

#include <algorithm>
#include <iterator>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "onnx/import_state.h"

namespace lethe::onnx {
namespace {

constexpr const char* kFoldedNorms =
    "there are convolutions with biases and no batch norm. An export for inference folds batch norms into weights and "
    "drops dropout, so this may be another network than the one that was trained. torch.onnx.export keeps them with "
    "training=TrainingMode.PRESERVE and do_constant_folding=False";

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

/// Leaves out a softmax that gives the value, and that nothing else reads: a loss of logits has it in it.
LayerValue without_softmax(ImportState& state, const LayerValue& out) {
  Json& layers = state.result.network["layers"];
  const auto reads = [&](const Json& layer) {
    if (!layer.contains("in")) return false;
    const Json& in = layer["in"];
    return in.is_array() ? std::ranges::count(in, Json(out.layer)) > 0 : in == Json(out.layer);
  };
  const auto found = std::ranges::find_if(layers, [&](const Json& layer) { return layer["name"] == Json(out.layer); });
  if (found == layers.end() || (*found)["op"] != Json("softmax") || std::ranges::any_of(layers, reads)) return out;
  LayerValue logits = out;
  logits.layer = (*found)["in"].get<std::string>();
  layers.erase(found);
  state.result.notes.push_back("the softmax at the end is left out: cross_entropy takes logits");
  return logits;
}

void add_loss(ImportState& state, const std::string& loss, const LayerValue& out) {
  Json& network = state.result.network;
  const bool is_classes = loss == "cross_entropy";
  check_as(Exit::Data, !out.shape.empty(), "its output is one number a sample, for which there is no cross_entropy");
  const char* const target = is_classes ? "label" : "target";
  check_as(Exit::Data, !network["inputs"].contains(target), "has an input ", quote(target),
           ", which the loss would be of");
  Shape labels = out.shape;
  if (is_classes) labels.erase(labels.size() == 3 ? labels.begin() : labels.end() - 1);  // the classes
  network["inputs"][target] = {{"shape", labels}};
  if (is_classes) network["inputs"][target]["dtype"] = "i32";
  network["loss"] = Json::array({{{"op", loss}, {"in", out.layer}, {"target", target}}});
}

void note_shared_weights(const ReadModel& model, std::vector<std::string>& notes) {
  std::map<std::string, int> readers;
  for (const ReadNode& node : model.nodes)
    for (const std::string& input : node.inputs) ++readers[input];
  for (const auto& [name, tensor] : model.tensors)
    if (tensor.shape.size() > 1 && tensor.is_float() && readers[name] > 1)
      notes.push_back(
          message("weight ", quote(name), " is read by ", readers[name], " nodes: each has one of its own here"));
}

void note_learned_constants(const Json& layers, std::vector<std::string>& notes) {
  const auto count = std::ranges::count_if(layers, [](const Json& layer) { return layer["op"] == Json("parameter"); });
  if (count > 0) notes.push_back(message("constants that are added or multiplied are learned tensors here: ", count));
}

void note_folded_norms(const ImportState& state, std::vector<std::string>& notes) {
  const auto count = [&](const char* type, std::size_t inputs) {
    return std::ranges::count_if(
        state.model.nodes, [&](const ReadNode& node) { return node.type == type && node.inputs.size() >= inputs; });
  };
  if (count("BatchNormalization", 1) == 0 && count("Conv", 3) >= 10) notes.push_back(kFoldedNorms);
}

}  // namespace

Imported imported(ReadModel model, const std::string& loss) {
  std::vector<std::string> notes;
  note_shared_weights(model, notes);
  ImportState state(std::move(model));
  Json& network = state.result.network;
  const Json inputs = network.contains("inputs") ? network["inputs"] : Json::object();
  network = {{"version", 1}, {"name", "imported"}};
  network["inputs"] = inputs, network["layers"] = Json::array();
  check_as(Exit::Data, !inputs.empty(), "no node reads an input");
  for (const ReadNode& node : state.model.nodes) import_node(state, node);
  check_as(Exit::Data, !state.model.outputs.empty(), "has no output");
  std::vector<LayerValue> outputs;
  for (const ValueInfo& output : state.model.outputs) {
    check_as(Exit::Data, state.has_value(output.name), "output ", quote(output.name), " is made by no node");
    outputs.push_back(state.made(output.name));
  }
  if (loss.empty())
    for (const LayerValue& output : outputs) network["outputs"].push_back(output.layer);
  else
    add_loss(state, loss, loss == "cross_entropy" ? without_softmax(state, outputs[0]) : outputs[0]);
  if (!loss.empty() && outputs.size() > 1)
    notes.push_back("outputs after the first are left out: the loss is of that one");
  note_learned_constants(network["layers"], notes);
  note_folded_norms(state, notes);
  std::ranges::move(notes, std::back_inserter(state.result.notes));
  return std::move(state.result);
}

}  // namespace lethe::onnx
