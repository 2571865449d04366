// `train import`: networks of others as network files.
#include <cstdio>
#include <filesystem>

#include "framework/error.h"
#include "train/option_groups.h"
#include "train/report/option_names.h"
#include "train/session/atomic_file.h"
#include "train/session/onnx_model.h"
#include "train/session/safetensors.h"
#include "train/values.h"

namespace lethe {
namespace {

struct ImportWords {
  std::vector<std::string> files, outputs, sizes;
  std::string loss = "cross_entropy";
  bool whole = false;
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

/// NAME=N,...: axes that have names.
std::map<std::string, std::int64_t> sizes_in(const std::vector<std::string>& words) {
  std::map<std::string, std::int64_t> sizes;
  for (const std::string& word : words) {
    const std::size_t at = word.rfind('=');
    std::int64_t size = 0;
    check(at != std::string::npos && at > 0 && read_value(word.substr(at + 1), size) && size > 0, "--bind ",
          shortened(word), ": expected NAME=N, an axis and its size");
    sizes[word.substr(0, at)] = size;
  }
  return sizes;
}

onnx::ImportSetting setting_of(const ImportWords& how) {
  return {.loss = how.loss == "none" ? "" : how.loss,
          .outputs = how.outputs,
          .sizes = sizes_in(how.sizes),
          .in_samples = !how.whole};
}

int import_network(const Options& options, const ImportWords& how) {
  check(options.output.ends_with(".json"), "--output ", options.output, ": a network file ends in .json");
  const std::string& file = how.files.front();
  const OnnxModel model = read_onnx_model(file, setting_of(how));
  const onnx::Imported& imported = model.imported;
  const std::string weights = weights_beside(options.output);
  write_tensors(weights, imported.weights);
  replace_file(options.output, model.file.text);
  for (const std::string& note : imported.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  std::fprintf(stderr, "%s: %zu layers; its weights: %s\n", options.output.c_str(), imported.network["layers"].size(),
               weights.c_str());
  return 0;
}

Run declare_import(OptionSet& set, Options& o) {
  const auto how = std::make_shared<ImportWords>();
  set.add_positional("file", how->files, "FILE", "An ONNX model, of opset 7 to 23", false)->required();
  set.in("Network");
  set.add("--loss", how->loss, "LOSS",
          "cross_entropy of labels on the first output, without a softmax at its end (default); mse of targets of its\n"
          "shape; none: to evaluate alone")
      ->check(one_of({"cross_entropy", "mse", "none"}));
  set.add_list(
      "--outputs", [how](const std::string& name) { how->outputs.push_back(name); }, "NAME,...",
      "End the graph at these values, in place of its outputs: before boxes are picked, for instance");
  set.add_list(
      "--bind", [how](const std::string& word) { how->sizes.push_back(word); }, "NAME=N,...",
      "Sizes of axes that have names and no size, but for the batch: --bind sequence=128");
  set.add_flag("--no-batch", how->whole,
               "The first axis of the inputs is no batch: a sample is all that goes through the model at once");
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
