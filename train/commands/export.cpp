// `train export`: weights as others read them.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "framework/error.h"
#include "kernels/cpu/device.h"
#include "train/option_groups.h"
#include "train/report/option_names.h"
#include "train/session/programs.h"
#include "train/session/start.h"
#include "train/session/weights.h"
#include "train/weights_recipe.h"

namespace lethe {

namespace {

/// Endings by which others know what they can read.
constexpr std::array<std::string_view, 24> kOtherFormats = {
    ".onnx", ".pt",      ".pth",     ".bin",    ".ckpt",     ".h5",         ".hdf5",   ".keras",
    ".pb",   ".pbtxt",   ".tflite",  ".npz",    ".npy",      ".pkl",        ".pickle", ".gguf",
    ".ggml", ".mlmodel", ".msgpack", ".params", ".pdparams", ".caffemodel", ".t7",     ".mat"};

void check_ending(const std::string& file) {
  const std::filesystem::path path(file);
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  check(std::find(kOtherFormats.begin(), kOtherFormats.end(), ending) == kOtherFormats.end(), "--output ", file, ": ",
        ending, " is another format; weights are written as safetensors, as in --output ",
        std::filesystem::path(path).replace_extension(".safetensors").string());
}

/// The type that the file's numbers are to have; none: that of the parameters.
std::optional<DType> asked_dtype(const Options& given) {
  return given.given.contains("dtype") ? std::optional(given.program.network.dtype) : std::nullopt;
}

/// Without a type of 16 bits, in which no parameters are: the file's numbers are rounded from the run's, once.
Options with_dtype_of_parameters(const Options& given) {
  OptionValues values = given.given;
  if (bytes_of(given.program.network.dtype) == 2) values.erase("dtype");
  return with_only(given, values);
}

int export_weights(const Options& given, const std::string& names) {
  check_ending(given.output);
  const Options options =
      decided_by_run(with_dtype_of_parameters(given), run_of_weights(given.checkpoints.weights.path));
  const Network network = build_network(options.program.network, false);
  const std::unique_ptr<Device> device = open_cpu(1);
  Store store(*device);
  fill_store({}, options.program.network.seed, options.checkpoints.weights, network, store,
             [](const std::string& line) { std::fprintf(stderr, "%s\n", with_options(line).c_str()); });
  save_weights(options.output, store, network, names, asked_dtype(given));
  return 0;
}

Run declare_export(OptionSet& set, Options& o) {
  const auto names = std::make_shared<std::string>();
  add_network(
      set, o,
      "Numbers in the file: f32, f64, bf16 or f16, rounded where they have to be (default: the parameters' own)");
  add_weights_of_run(set, o);
  add_ignore(set, o);
  add_seed(set, o);
  set.in("Output");
  set.add("--names", *names, "LIBRARY",
          "Under the names, and in the layout, of a library that the network file states: huggingface, timm\n"
          "(default: the network's own)")
      ->check(such_as({"huggingface", "timm"}));
  set.add("--output", o.output, "FILE", "File to write")->required();
  return [names](const Options& options) { return export_weights(options, *names); };
}

const RegisterCommand export_command{
    {.word = "export",
     .help = "Writes weights as one safetensors file, in PyTorch's layout.",
     .examples = {{"train export --weights runs/lenet --output lenet.safetensors", "the best checkpoint's"}},
     .facts = {.takes_run = true},
     .declare = declare_export}};

}  // namespace
}  // namespace lethe
