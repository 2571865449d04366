#include "onnx/importer.h"

#include <algorithm>
#include <iterator>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "onnx/graph.h"
#include "onnx/import_tables.h"
#include "onnx/patterns.h"

namespace lethe::onnx {
namespace {

constexpr const char* kFoldedNorms =
    "there are convolutions with biases and no batch norm. An export for inference folds batch norms into weights and "
    "drops dropout, so this may be another network than the one that was trained. torch.onnx.export keeps them with "
    "training=TrainingMode.PRESERVE and do_constant_folding=False";

const ImportTable& import_table() {
  static const ImportTable table = [] {
    ImportTable all;
    add_shape_imports(all);
    add_part_imports(all);
    add_activation_imports(all);
    add_window_imports(all);
    add_image_imports(all);
    add_resize_imports(all);
    add_matrix_imports(all);
    add_norm_imports(all);
    add_fold_imports(all);
    add_loss_imports(all);
    add_attention_imports(all);
    add_elementwise_imports(all);
    return all;
  }();
  return table;
}

std::vector<std::string> known_types() {
  std::vector<std::string> types;
  for (const auto& [type, import] : import_table())
    if (type != kFoundAttention) types.push_back(type);
  return types;
}

void import_node(ImportState& state, const ReadNode& node) {
  try {
    if (state.is_taken(node) || state.constants.fold(node, state.open_batch())) return;
    import_by_type(state, node);
  } catch (const Error& error) {
    const std::string said = error.what(), who = node.text();
    fail_as(Exit::Data, said.starts_with(who) ? said : message(who, ": ", said));
  }
}

/// The layers that a layer reads.
std::vector<std::string> read_by(const Json& layer) {
  if (!layer.contains("in")) return {};
  if (layer["in"].is_array()) return layer["in"].get<std::vector<std::string>>();
  return {layer["in"].get<std::string>()};
}

/// Takes away layers that lead to nothing, with their weights.
void drop_unread_layers(Imported& made) {
  std::set<std::string> read;
  Json& network = made.network;
  if (network.contains("outputs"))
    for (const Json& output : network["outputs"]) read.insert(output.get<std::string>());
  if (network.contains("loss")) read.insert(network["loss"][0]["in"].get<std::string>());
  std::vector<Json> kept;
  std::set<std::string> gone;
  for (auto layer = network["layers"].rbegin(); layer != network["layers"].rend(); ++layer) {
    const auto name = (*layer)["name"].get<std::string>();
    if (!read.contains(name)) {
      gone.insert(name);
      continue;
    }
    for (const std::string& in : read_by(*layer)) read.insert(in);
    kept.push_back(*layer);
  }
  std::ranges::reverse(kept);
  network["layers"] = kept;
  const auto is_gone = [&](const std::string& param) { return gone.contains(param.substr(0, param.rfind('.'))); };
  std::erase_if(made.weights, [&](const NamedTensor& tensor) { return is_gone(tensor.name); });
  std::erase_if(made.origins, [&](const TensorOrigin& origin) { return is_gone(origin.param); });
  std::erase_if(made.shapes, [&](const auto& shape) { return gone.contains(shape.first); });
}

/// Without a softmax that gives the value, and that nothing else reads: a loss of logits has it in it.
View without_softmax(ImportState& state, const View& out) {
  const Json& layers = state.result.network["layers"];
  const auto found = std::ranges::find_if(layers, [&](const Json& layer) { return layer["name"] == Json(out.layer); });
  const bool is_read =
      std::ranges::any_of(layers, [&](const Json& layer) { return std::ranges::count(read_by(layer), out.layer) > 0; });
  if (found == layers.end() || (*found)["op"] != Json("softmax") || is_read) return out;
  View logits = out;
  logits.layer = (*found)["in"].get<std::string>();
  state.result.notes.push_back("the softmax at the end is left out: cross_entropy takes logits");
  return logits;
}

/// The output as a loss takes it: images as such, with the classes last in memory; else a sample's axes in the model's
/// order.
std::string as_output(ImportState& state, const std::string& name, const View& out) {
  if (!state.image_or_none(out).empty()) return out.layer;
  return state.plain({.type = "output", .name = name, .inputs = {}, .outputs = {}, .attributes = {}}, out);
}

/// A layer that computes something: a copy of what evaluation only hands on, or sees as another shape.
std::string computed(ImportState& state, const std::string& name, const std::string& layer) {
  const Json& layers = state.result.network["layers"];
  const auto found = std::ranges::find_if(layers, [&](const Json& entry) { return entry["name"] == Json(layer); });
  if (found != layers.end() && (*found)["op"] != Json("dropout") && (*found)["op"] != Json("reshape")) return layer;
  return state.add(name, {{"op", "scale"}}, {layer}, state.stated(layer));
}

void add_loss(ImportState& state, const std::string& loss, const std::string& layer) {
  Json& network = state.result.network;
  const Stated& out = state.stated(layer);
  const bool is_classes = loss == "cross_entropy";
  check_as(Exit::Data, !out.shape.empty(), "its output is one number a sample, for which there is no cross_entropy");
  const char* const target = is_classes ? "label" : "target";
  check_as(Exit::Data, !network["inputs"].contains(target), "has an input ", quote(target),
           ", which the loss would be of");
  Shape labels = out.shape;
  if (is_classes) labels.erase(out.is_image ? labels.begin() : labels.end() - 1);  // the classes
  Json& said = network["inputs"][target];
  said = {{"shape", labels}};
  if (labels.size() == 3 && !out.is_image) said["layout"] = "plain";
  if (is_classes) said["dtype"] = "i32";
  network["loss"] = Json::array({{{"op", loss}, {"in", layer}, {"target", target}}});
}

/// Under which names the file has the parameters, so that trained ones can go back: those that are no tensor of it keep
/// ours.
void add_names(Imported& made) {
  std::map<std::string, const TensorOrigin*> origins;
  std::set<std::string> taken;
  for (const TensorOrigin& origin : made.origins)
    if (taken.insert(origin.tensor).second) origins[origin.param] = &origin;
  Json tensors = Json::array();
  for (const NamedTensor& weight : made.weights) {
    const auto found = origins.find(weight.name);
    Json entry = {{"tensor", found == origins.end() ? weight.name : found->second->tensor}, {"param", weight.name}};
    if (found != origins.end() && found->second->transposed) entry["transpose"] = true;
    if (found != origins.end() && !found->second->transposed && found->second->shape != weight.tensor.shape)
      entry["shape"] = found->second->shape;
    tensors.push_back(entry);
  }
  if (!tensors.empty()) made.network["weights"]["onnx"] = {{"tensors", tensors}};
}

void check_outputs(const ReadModel& model) {
  std::set<std::string> made;
  for (const ValueInfo& input : model.inputs) made.insert(input.name);
  for (const ReadNode& node : model.nodes) made.insert(node.outputs.begin(), node.outputs.end());
  for (const ValueInfo& output : model.outputs)
    check_as(Exit::Data, made.contains(output.name), "output ", quote(output.name), " is made by no node");
}

void note_shared_weights(const Imported& made, std::vector<std::string>& notes) {
  std::map<std::string, int> readers;
  for (const TensorOrigin& origin : made.origins)
    if (origin.shape.size() > 1) ++readers[origin.tensor];
  for (const auto& [name, count] : readers)
    if (count > 1)
      notes.push_back(message("weight ", quote(name), " is read by ", count, " nodes: each has one of its own here"));
}

/// Tensors that are added or multiplied: those of the file are learned.
void note_learned_constants(const Json& layers, std::vector<std::string>& notes) {
  const auto count = std::ranges::count_if(
      layers, [](const Json& layer) { return layer["op"] == Json("parameter") && !layer.contains("trainable"); });
  if (count > 0) notes.push_back(message("constants that are added or multiplied are learned tensors here: ", count));
}

/// Ends the graph at the values of these names.
void cut(ReadModel& model, const std::vector<std::string>& outputs) {
  if (outputs.empty()) return;
  std::vector<std::string> made;
  for (const ReadNode& node : model.nodes) made.insert(made.end(), node.outputs.begin(), node.outputs.end());
  model.outputs.clear();
  for (const std::string& name : outputs) {
    check_as(Exit::Data, std::ranges::count(made, name) > 0, "no node makes ", quote(name), did_you_mean(name, made));
    model.outputs.push_back({name});
  }
}

void note_folded_norms(const ImportState& state, std::vector<std::string>& notes) {
  const auto count = [&](const char* type, std::size_t inputs) {
    return std::ranges::count_if(
        state.model.nodes, [&](const ReadNode& node) { return node.type == type && node.inputs.size() >= inputs; });
  };
  if (count("BatchNormalization", 1) == 0 && count("Conv", 3) >= 10) notes.push_back(kFoldedNorms);
}

}  // namespace

void import_by_type(ImportState& state, const ReadNode& node) {
  const auto found = import_table().find(node.type);
  check_as(Exit::Data, found != import_table().end(), node.text(), ": no ", shortened(node.type), " is read",
           did_you_mean(node.type, known_types()));
  found->second(state, node);
}

Imported imported(ReadModel model, const ImportSetting& setting) {
  for (const ReadNode& node : model.nodes) check_as(Exit::Data, !node.outputs.empty(), node.text(), ": has no output");
  cut(model, setting.outputs);
  check_as(Exit::Data, !model.outputs.empty(), "has no output");
  check_outputs(model);
  Constants constants(std::move(model.tensors));
  recognise(model.nodes, constants, model.outputs, model.opset);
  drop_unread(model.nodes, model.outputs);
  ImportState state(std::move(model), std::move(constants), setting);
  Json& network = state.result.network;
  const Json inputs = network.contains("inputs") ? network["inputs"] : Json::object();
  network = {{"version", 1}, {"name", "imported"}};
  network["inputs"] = inputs, network["layers"] = Json::array();
  check_as(Exit::Data, !inputs.empty(), "no node reads an input");
  for (const ReadNode& node : state.model.nodes) import_node(state, node);
  const std::string& loss = setting.loss;
  std::vector<std::string> outputs;
  for (const ValueInfo& output : state.model.outputs) {
    check_as(Exit::Data, state.has_value(output.name), "output ", quote(output.name), " is made by no node");
    View view = state.made(output.name);
    if (loss == "cross_entropy") view = without_softmax(state, view);
    // A global pool may leave axes of size 1, which a loss does not know of.
    while (!loss.empty() && view.axes.size() > 2 && size_of(view, view.axes.size() - 1, state.batch()) == 1)
      view = without_one(simplified(view), std::ssize(view.axes) - 1);
    const std::string layer = as_output(state, output.name, view);
    outputs.push_back(loss.empty() ? computed(state, output.name, layer) : layer);
    if (!loss.empty()) break;
  }
  if (loss.empty())
    network["outputs"] = outputs;
  else
    add_loss(state, loss, outputs[0]);
  std::vector<std::string> notes;
  if (!loss.empty() && state.model.outputs.size() > 1)
    notes.push_back("outputs after the first are left out: the loss is of that one");
  drop_unread_layers(state.result);
  note_shared_weights(state.result, notes);
  note_learned_constants(network["layers"], notes);
  note_folded_norms(state, notes);
  add_names(state.result);
  std::ranges::move(notes, std::back_inserter(state.result.notes));
  return std::move(state.result);
}

}  // namespace lethe::onnx
