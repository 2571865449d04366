// `train import`: networks of others as network files.
#include <cstdio>
#include <filesystem>

#include "framework/error.h"
#include "models/network.h"
#include "onnx/importer.h"
#include "train/option_groups.h"
#include "train/report/option_names.h"
#include "train/session/atomic_file.h"
#include "train/session/safetensors.h"
#include "train/values.h"

namespace lethe {
namespace {

struct ImportSetting {
  std::vector<std::string> files;
  std::string loss = "cross_entropy";
};

/// Beside the network file, under its name.
std::string weights_beside(const std::string& output) {
  return std::filesystem::path(output).replace_extension(".safetensors").string();
}

void write_tensors(const std::string& file, const std::vector<onnx::NamedTensor>& tensors) {
  std::vector<TensorEntry> entries;
  for (const onnx::NamedTensor& tensor : tensors)
    entries.push_back({.name = tensor.name, .shape = tensor.tensor.shape});
  SafetensorsWriter writer(file, entries);
  for (const onnx::NamedTensor& tensor : tensors) writer.write(tensor.tensor.data);
  writer.finish();
}

/// Builds the network and holds it to what was read. Fails where a layer is not as its node was understood.
void check_builds(const std::string& text, const onnx::Imported& imported) {
  constexpr std::int64_t kBatch = 2;
  const Network network =
      load_network({.name = "imported", .text = text, .path = "the network"}, {.batch = kBatch, .training = false});
  const Program& program = network.program;
  for (const onnx::NamedTensor& tensor : imported.weights) {
    const VarId var = find_var(program, tensor.name);
    check(var != kNone, "the network has no ", quote(tensor.name));
    const std::int64_t has = elements(program.vars[var].shape), wants = elements(tensor.tensor.shape);
    check(has == wants, quote(tensor.name), " is ", text_of(tensor.tensor.shape), " in the file, its layer takes ", has,
          " numbers");
  }
  for (const auto& [layer, shape] : imported.shapes)
    if (const VarId var = find_var(program, layer + ".y"); var != kNone && program.vars[var].kind == Kind::Temp)
      check(elements(program.vars[var].shape) == kBatch * elements(shape), "layer ", quote(layer), " gives ",
            text_of(program.vars[var].shape), " for ", kBatch, " samples, in the file ", text_of(shape), " each");
}

int import_network(const Options& options, const ImportSetting& how) {
  check(options.output.ends_with(".json"), "--output ", options.output, ": a network file ends in .json");
  const std::string& file = how.files.front();
  onnx::Imported imported;
  std::string text;
  try {
    imported = onnx::imported(onnx::read_model(file), how.loss == "none" ? "" : how.loss);
    text = imported.network.dump(1) + "\n";
    check_builds(text, imported);
  } catch (const Error& error) {
    const std::string said = error.what();
    fail_as(Exit::Data, said.starts_with(file) ? said : message(file, ": ", said));
  }
  const std::string weights = weights_beside(options.output);
  write_tensors(weights, imported.weights);
  replace_file(options.output, text);
  for (const std::string& note : imported.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  std::fprintf(stderr, "%s: %zu layers; its weights: %s\n", options.output.c_str(), imported.network["layers"].size(),
               weights.c_str());
  return 0;
}

Run declare_import(OptionSet& set, Options& o) {
  const auto how = std::make_shared<ImportSetting>();
  set.add_positional("file", how->files, "FILE", "An ONNX model, of opset 7 to 23", false)->required();
  set.in("Network");
  set.add("--loss", how->loss, "LOSS",
          "cross_entropy of labels on the first output, without a softmax at its end (default); mse of targets of its\n"
          "shape; none: to evaluate alone")
      ->check(one_of({"cross_entropy", "mse", "none"}));
  set.in("Output");
  set.add("--output", o.output, "FILE", "The network file; its weights stand beside it, as FILE.safetensors")
      ->required();
  return [how](const Options& options) { return import_network(options, *how); };
}

const RegisterCommand import_command{
    {.word = "import",
     .help = "Makes a network file and a file of weights of an ONNX model.",
     .examples = {{"train import resnet50.onnx --output resnet50.json", "then: train plan --model resnet50.json"},
                  {"train import net.onnx --loss none --output net.json", "without labels"}},
     .declare = declare_import}};

}  // namespace
}  // namespace lethe
