// `train export`: weights as others read them.
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "framework/error.h"
#include "kernels/cpu/device.h"
#include "train/data/gguf_keys.h"
#include "train/gguf_model.h"
#include "train/option_groups.h"
#include "train/report/option_names.h"
#include "train/session/adapter_files.h"
#include "train/session/gguf_weights.h"
#include "train/session/merge.h"
#include "train/session/onnx_file.h"
#include "train/session/programs.h"
#include "train/session/start.h"
#include "train/session/weights.h"
#include "train/weights_recipe.h"

namespace lethe {

namespace {

/// Endings by which others know what they can read.
constexpr std::array<std::string_view, 23> kOtherFormats = {
    ".pt",      ".pth",     ".bin",    ".ckpt",     ".h5",         ".hdf5",   ".keras", ".pb",
    ".pbtxt",   ".tflite",  ".npz",    ".npy",      ".pkl",        ".pickle", ".gguf",  ".ggml",
    ".mlmodel", ".msgpack", ".params", ".pdparams", ".caffemodel", ".t7",     ".mat"};

bool ends_as_onnx(const std::string& file) { return std::filesystem::path(file).extension() == ".onnx"; }

void check_ending(const std::string& file, const std::string& format) {
  const std::filesystem::path path(file);
  check(format == "safetensors" || path.extension() != ".safetensors", "--output ", file, ": --format ", format,
        " writes another format");
  check((format == "onnx") == ends_as_onnx(file), "--output ", file, ": --format ", format, " writes ",
        format == "onnx" ? "files that end in .onnx" : "another format");
  if (format != "safetensors") return;
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

/// How it is written.
struct ExportSetting {
  std::string names = {};      // the library whose names it has; "": our own, of adapters the first that has names
  bool merge = false;          // adapters into the weights
  std::string quantize = {};   // weights in blocks of this type
  std::string format = {};     // "": by the file's ending
  std::string tokenizer = {};  // of GGUF
  std::optional<std::int64_t> opset = {};  // of ONNX
  bool preprocess = false;                 // of ONNX: images are bytes
  bool as_gguf() const { return format == "gguf"; }
  bool as_onnx() const { return format == "onnx"; }
};

/// `--lora` alone asks for the adapters; what they are says the run, or --adapter.
bool wants_adapter(const Options& given) {
  const auto found = given.given.find("lora");
  return found != given.given.end() && found->second.empty();
}

/// What the run says of the network, and what of it trained.
Options decided_for_export(const Options& given, const std::optional<SavedRun>& run) {
  Options options = with_dtype_of_parameters(given);
  if (wants_adapter(given)) {
    OptionValues values = options.given;
    values.erase("lora");
    options = with_only(options, values);
  }
  return decided_by_run(options, run);
}

/// Fails for forms that have no place for the network's adapters, or for what is asked of adapters without any.
void check_form(const Options& given, const ExportSetting& how, const Network& network) {
  const bool adapter = wants_adapter(given);
  check(!adapter || !how.merge, "--lora writes the adapters alone and --merge weights without any: one of them");
  check(!(adapter || how.merge) || !network.adapters.empty(), how.merge ? "--merge" : "--lora", ": ", network.name,
        " has no adapters; those of a run, or of --adapter");
  check(adapter || how.merge || how.names.empty() || network.adapters.empty(), "--names ", how.names,
        ": these names have no place for adapters; --merge makes them a part of the weights, --lora writes them alone");
}

/// Fails for types that the format does not have.
void check_quantised(const ExportSetting& how, bool adapter) {
  check(!adapter || (how.quantize.empty() && !how.as_gguf()), "--lora writes adapters, in no other format and type");
  check(!how.as_gguf() || how.names.empty(), "--format gguf has names of its own; --names is for safetensors");
  const bool of_ggml = how.quantize.starts_with("q");
  check(how.quantize.empty() || of_ggml == how.as_gguf(), "--quantize ", how.quantize, ": ",
        of_ggml ? "is for --format gguf; safetensors take nf4, nf4-dq and int8"
                : "is for safetensors; GGUF takes q8_0, q4_0 and q4_1");
}

/// Fails for what ONNX has no place for, and for what it alone has.
void check_onnx(const Options& given, const ExportSetting& how) {
  check(how.as_onnx() || (!how.preprocess && !how.opset), "--opset and --preprocess are for --format onnx");
  if (!how.as_onnx()) return;
  check(!wants_adapter(given), "--lora writes adapters, in no other format and type");
  check(how.names.empty(), "--names is for safetensors; an ONNX model has the network's own names");
  check(how.quantize.empty(), "--quantize is for safetensors and GGUF; an ONNX model has floats (--dtype f16, bf16)");
}

/// With what the run says of labels and images.
void write_onnx(const Options& given, const Options& options, const ExportSetting& how, const Network& network,
                const Store& store, const std::optional<SavedRun>& run) {
  const Meaning known = meaning_to_weights(options, run, network, say);
  OnnxSetting setting{.opset = how.opset.value_or(OnnxSetting{}.opset),
                      .dtype = asked_dtype(given),
                      .classes = known.classes,
                      .version = LETHE_VERSION};
  check(!how.preprocess || !known.mean.empty(), "--preprocess: no run says how the images of ", network.name,
        " are normalised; --weights RUN does, of one that learned from images");
  if (how.preprocess) setting.preprocess = PixelNorm{known.mean, known.deviation};
  NetworkSetting of = options.program.network;
  if (how.merge) of.lora = {};
  save_onnx(options.output, store, of, setting);
}

/// The first family of GGUF's by which the network can be said.
void write_gguf(const Options& given, const Options& options, const ExportSetting& how, const Network& network,
                const Store& store, const std::optional<SavedRun>& run) {
  const NetworkSetting& of = options.program.network;
  const NetworkFile file = read_network_file(of.model);
  std::string tokenizer = how.tokenizer;
  if (tokenizer.empty() && run)
    if (const auto found = run->state.options.find("tokenizer"); found != run->state.options.end())
      tokenizer = found->second;
  std::string why;
  for (const char* const family : {"gguf_llama", "gguf_qwen2"}) {
    std::vector<GgufEntry> keys;
    try {
      keys = gguf_keys(file, of.sets, family);
    } catch (const Error& error) {
      if (why.empty()) why = error.what();
      continue;
    }
    if (!tokenizer.empty()) std::ranges::move(gguf_tokenizer_keys(tokenizer), std::back_inserter(keys));
    const std::optional<DType> matrices =
        how.quantize.empty() ? asked_dtype(given) : std::optional(dtype_named(how.quantize));
    save_gguf(options.output, store, network, family, keys, matrices);
    return;
  }
  fail("--format gguf: ", why);
}

int export_weights(const Options& given, ExportSetting how) {
  const bool adapter = wants_adapter(given);
  if (how.format.empty()) how.format = ends_as_onnx(given.output) ? "onnx" : "safetensors";
  if (!adapter) check_ending(given.output, how.format);
  check_quantised(how, adapter);
  check_onnx(given, how);
  const WeightsSetting& weights = given.checkpoints.weights;
  const std::optional<SavedRun> run = run_of_weights(weights.path);
  const Options options = decided_for_export(given, run);
  NetworkSetting of = options.program.network;
  const Network network = build_network(of, false);
  check_form(given, how, network);
  const std::unique_ptr<Device> device = open_cpu(1);
  Store store(*device);
  store.initialize(network.program, network.params, of.seed);
  std::vector<WeightsElsewhere> base;
  if (!weights.path.empty()) base = read_weights(weights, store, network, say);
  if (run) base = run->state.elsewhere;
  if (how.merge) merge_adapters(store, network);
  if (adapter) save_adapter(options.output, store, network, how.names, asked_dtype(given), left_as_read(base, network));
  of.lora = {};
  if (adapter) return 0;
  const Network written = how.merge ? build_network(of, false) : network;
  if (how.as_onnx())
    write_onnx(given, options, how, written, store, run);
  else if (how.as_gguf())
    write_gguf(given, options, how, written, store, run);
  else if (how.quantize.empty())
    save_weights(options.output, store, written, how.names, asked_dtype(given));
  else
    save_weights_quantized(options.output, store, written, how.names, dtype_named(how.quantize));
  return 0;
}

Run declare_export(OptionSet& set, Options& o) {
  const auto how = std::make_shared<ExportSetting>();
  add_network(
      set, o,
      "Numbers in the file: f32, f64, bf16 or f16, rounded where they have to be (default: the parameters' own)");
  add_weights_of_run(set, o);
  add_ignore(set, o);
  add_seed(set, o);
  set.in("Output");
  set.add("--names", how->names, "LIBRARY",
          "Under the names, and in the layout, of a library that the network file states: huggingface, timm\n"
          "(default: the network's own)")
      ->check(such_as({"huggingface", "timm"}));
  set.add_flag("--merge", how->merge, "Adapters become a part of the weights that they are beside: W + scale B A");
  set.add("--quantize", how->quantize, "TYPE",
          "Weights of fully connected layers but the last in nf4, nf4-dq or int8, as bitsandbytes has them; of GGUF\n"
          "all matrices in q8_0, q4_0 or q4_1")
      ->check(one_of({"nf4", "nf4-dq", "int8", "q8_0", "q4_0", "q4_1"}));
  set.add("--format", how->format, "FORMAT",
          "safetensors, onnx: weights and network as other programs run it, or gguf: weights, network and tokenizer\n"
          "as llama.cpp takes them (default: onnx for FILE.onnx, else safetensors)")
      ->check(one_of({"safetensors", "onnx", "gguf"}));
  set.add("--opset", how->opset, "N", "Of --format onnx: the version of ONNX's operators, 17 to 23 (default 17)")
      ->check(whole_number(17, 23));
  set.add_flag("--preprocess", how->preprocess,
               "Of --format onnx: takes images as bytes [N,C,H,W] and normalises them as the run did");
  set.add("--tokenizer", how->tokenizer, "DIR|FILE",
          "Of --format gguf: whose tokens the network takes (default: those of the run, or of the model's folder)");
  set.add("--output", o.output, "FILE|DIR", "File to write; with --lora a folder as Hugging Face's PEFT has it")
      ->required();
  return [how](const Options& options) { return export_weights(options, *how); };
}

const RegisterCommand export_command{
    {.word = "export",
     .help =
         "Writes weights as one safetensors file, in PyTorch's layout, networks as ONNX or GGUF, or adapters as PEFT "
         "has them.",
     .examples = {{"train export --weights runs/lenet --output lenet.safetensors", "the best checkpoint's"},
                  {"train export --weights runs/lenet --output lenet.onnx", "for onnxruntime and others"},
                  {"train export --weights runs/lora --lora --output adapter", "a folder that PEFT opens"}},
     .facts = {.takes_run = true, .writes_adapters = true},
     .declare = declare_export}};

}  // namespace
}  // namespace lethe
