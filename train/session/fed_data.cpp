#include "train/session/fed_data.h"

#include <algorithm>
#include <iterator>

#include "framework/builder/mixed_targets.h"
#include "framework/builder/packed_texts.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "train/data/arrays.h"
#include "train/data/data_spec.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/labelled_texts.h"
#include "train/data/made_numbers.h"
#include "train/data/masks.h"
#include "train/data/sequences.h"
#include "train/data/table.h"

namespace lethe {
namespace {

/// The var that this one is a view of; itself if it is no view.
VarId viewed(const Program& program, VarId var) {
  const std::vector<Op>& ops = program.blocks[0].ops;
  for (auto op = ops.rbegin(); op != ops.rend(); ++op)
    if (op_def(op->type).view == ViewOf::Whole && op->out[0] == var) var = op->in[0];
  return var;
}

/// The op of the first loss that takes no labels.
std::string first_loss(const Program& program) {
  static const std::vector<std::string> known = {"mse_loss", "l1_loss", "huber_loss", "sigmoid_cross_entropy"};
  for (const Op& op : program.blocks[0].ops)
    if (std::ranges::count(known, op.type) > 0) return op.type;
  return "";
}

bool reads_symbols(const Var& samples) { return samples.dtype == DType::i32 && samples.shape.size() == 2; }

/// Below what the symbols of a sample must be: the rows of tables that they are looked up in.
std::int64_t symbols_read(const Network& network, VarId samples) {
  std::int64_t symbols = INT32_MAX;
  for (const Op& op : network.program.blocks[0].ops)
    if (op.type == "embedding" && op.in[0] == samples)
      symbols = std::min(symbols, network.program.vars[op.in[1]].shape[0]);
  return symbols;
}

/// Whether there is one input beside the labels, but for the positions of texts.
bool has_one_input(const Network& network, const FedInputs& fed) {
  return fed.inputs.size() == (network.positions == kNone ? 1 : 2);
}

PackedInputs packed_inputs(const Network& network, VarId symbols) {
  const std::vector<Var>& vars = network.program.vars;
  if (network.positions == kNone) return {};
  return {.symbols = vars[symbols].name, .positions = vars[network.positions].name};
}

/// The data that is made for a network without any.
const char* made_for(const Network& network) {
  if (takes_sequences(network)) return "sentences";
  if (takes_texts(network)) return "subjects";
  if (!is_fed_by_data(network)) return "numbers";
  return fed_inputs(network).rows > 1 ? "shape-masks" : "shapes";
}

std::unique_ptr<Samples> open_spec(const std::string& spec, std::uint64_t seed, const Network& network,
                                   const Notify& notify, const Meaning& known) {
  const DataSpec named(spec);
  if (named.kind == "npy") return open_arrays(named, network, fed_inputs(network));
  if (named.kind == "csv") return open_table(named, network, fed_inputs(network), notify, known);
  if (named.kind == "numbers") return make_numbers(named, network, fed_inputs(network), seed);
  if (!is_fed_by_data(network)) named.reject_for_names();
  const FedInputs fed = sample_and_labels(network);
  const Var &samples = network.program.vars[fed.samples], &labels = network.program.vars[fed.labels];
  const std::int64_t classes = network.classes;
  if (takes_sequences(network))
    return open_sequences(spec, samples.shape[1], classes, seed, network.ignored, known,
                          packed_inputs(network, fed.samples), notify);
  if (takes_texts(network))
    return open_labelled_texts(spec, samples.shape[1], symbols_read(network, fed.samples), classes, seed, notify,
                               known);
  const auto check_labels = [&](bool fit, const char* what) {
    check_as(Exit::Data, fit, network.name, ": takes ", text_of(samples), " and labels ", text_of(labels),
             ", but data sets give a label for each ", what);
  };
  check_labels(!reads_symbols(samples), "symbol, or for all of them");
  const ImageShape image = image_shape_of(samples.shape);
  if (fed.rows == 1) return open_dataset(spec, image, classes, seed, notify, known);
  check_labels(labels.shape == Shape{samples.shape[0], image.height, image.width}, "image, or for each of its pixels");
  return open_masks(spec, image, classes, seed, network.ignored, notify);
}

/// "x of 12 bytes, y of 4 bytes"
std::string bytes_by_input(const std::vector<SampleInput>& inputs) {
  std::vector<std::string> all;
  for (const SampleInput& input : inputs) all.push_back(message(input.name, " of ", input.bytes, " bytes"));
  return joined(all);
}

/// Whose tokens the folder's tokenizer makes. One that cannot be read keeps nobody from tokens that are made: "".
std::string made_by(const std::string& directory, const Notify& notify) {
  try {
    return open_folder_tokenizer(directory).tokenizer->identity();
  } catch (const Error& error) {
    if (notify)
      notify(message("note: whether the tokens are those of the model's tokenizer is unknown: ", error.what()));
    return "";
  }
}

}  // namespace

FedInputs fed_inputs(const Network& network) {
  const auto& vars = network.program.vars;
  check(network.target != kNone, network.name, ": has no \"loss\", which is what data sets are for");
  FedInputs fed{.target = viewed(network.program, network.target)};
  if (vars[fed.target].kind != Kind::Input && network.correct == kNone) fed.target = kNone;
  if (network.correct != kNone) {
    fed.labels = fed.target;
    check(vars[fed.labels].kind == Kind::Input, network.name, ": the loss reads '", vars[fed.labels].name,
          "' as labels, but data sets give those of a sample side by side in an input");
    fed.rows = elements(vars[fed.labels].shape) / vars[fed.labels].shape[0];
  }
  if (network.correct == kNone) fed.chances = first_loss(network.program) == "sigmoid_cross_entropy";
  fed.other_labels = find_var(network.program, other_target(vars[network.target].name));
  fed.shares = find_var(network.program, share_of_target(vars[network.target].name));
  std::ranges::copy_if(network.inputs, std::back_inserter(fed.inputs),
                       [&](VarId v) { return v != fed.labels && v != fed.other_labels && v != fed.shares; });
  check(!fed.inputs.empty(), network.name, ": has no input beside its labels");
  const auto floats = std::ranges::find_if(fed.inputs, [&](VarId v) { return is_float(vars[v].dtype); });
  fed.samples = floats == fed.inputs.end() ? fed.inputs.front() : *floats;
  return fed;
}

bool is_fed_by_data(const Network& network) {
  return network.correct != kNone && network.inputs.size() >= 2 &&
         network.program.vars[viewed(network.program, network.target)].kind == Kind::Input &&
         has_one_input(network, fed_inputs(network));
}

FedInputs sample_and_labels(const Network& network) {
  check(network.correct != kNone, network.name,
        ": data sets give samples and labels, which takes a cross_entropy loss");
  check(network.inputs.size() >= 2, network.name, ": has ", network.inputs.size(),
        " inputs, but data sets give a sample and its labels");
  FedInputs fed = fed_inputs(network);
  check(has_one_input(network, fed), network.name, ": has ", fed.inputs.size() + 1,
        " inputs, but data sets give a sample and its labels");
  return fed;
}

void feed_next(Executor& executor, const FedInputs& fed, const Batches& batches, const Batch& batch) {
  const auto* values = static_cast<const std::byte*>(batch.samples);
  for (const VarId input : fed.inputs) {
    const std::int64_t bytes = bytes_of(executor.program().vars[input]);
    executor.feed_next(input, values, bytes);
    values += bytes;
  }
  if (fed.labels != kNone) executor.feed_next(fed.labels, batch.labels, batches.label_bytes());
  if (fed.shares == kNone) return;
  executor.feed_next(fed.other_labels, batch.other_labels, batches.label_bytes());
  executor.feed_next(fed.shares, batch.shares, bytes_of(executor.program().vars[fed.shares]));
}

bool takes_sequences(const Network& network) {
  if (!is_fed_by_data(network)) return false;
  const FedInputs fed = fed_inputs(network);
  const Var& samples = network.program.vars[fed.samples];
  return reads_symbols(samples) && fed.rows == samples.shape[1];
}

bool takes_texts(const Network& network) {
  if (!is_fed_by_data(network)) return false;
  const FedInputs fed = fed_inputs(network);
  return reads_symbols(network.program.vars[fed.samples]) && fed.rows == 1 && !takes_sequences(network);
}

std::int64_t symbols_of_sample(const Network& network) {
  const VarId labels = network.target == kNone ? kNone : viewed(network.program, network.target);
  for (const VarId input : network.inputs) {
    const Var& var = network.program.vars[input];
    if (input != labels && var.dtype == DType::i32 && var.shape.size() == 2) return var.shape[1];
  }
  return 0;
}

std::int64_t scored_numbers(const Network& network) {
  constexpr std::int64_t kMost = 256;
  if (network.target == kNone || network.correct != kNone || network.prediction == kNone) return 0;
  const VarId target = fed_inputs(network).target;
  if (target == kNone) return 0;
  const Shape& shape = network.program.vars[target].shape;
  const std::int64_t numbers = elements(shape) / shape[0];
  return numbers <= kMost && elements(network.program.vars[network.prediction].shape) == elements(shape) ? numbers : 0;
}

std::int64_t counted(const Network& network, const std::int32_t* labels, std::int64_t count) {
  if (!network.ignored) return count;
  return std::count_if(labels, labels + count, [&](std::int32_t v) { return v >= 0 && v != *network.ignored; });
}

void check_fed(const Network& network, const Samples& samples) {
  const FedInputs fed = fed_inputs(network);
  const Var& input = network.program.vars[fed.samples];
  if (const std::vector<SampleInput> inputs = samples.inputs(input.dtype); !inputs.empty()) {
    std::vector<SampleInput> taken;
    for (const VarId v : fed.inputs) {
      const Var& var = network.program.vars[v];
      taken.push_back({.name = var.name, .bytes = bytes_of(var) / var.shape[0]});
    }
    const std::int64_t labels = fed.labels == kNone ? 0 : fed.rows;
    check_as(Exit::Data, inputs == taken && samples.labels() == labels, network.name, ": takes ", bytes_by_input(taken),
             " and labels: ", labels, "; '", samples.name(), "' gives ", bytes_by_input(inputs),
             " and labels: ", samples.labels());
    return;
  }
  sample_and_labels(network);
  check_as(Exit::Data, network.positions == kNone, network.name, ": takes samples of several texts, '", samples.name(),
           "' has none");
  const std::int64_t bytes = bytes_of(input) / input.shape[0], given = samples.sample_bytes(input.dtype);
  check_as(Exit::Data, given == bytes && samples.labels() == fed.rows, network.name, ": takes samples of ", bytes,
           " bytes with labels: ", fed.rows, "; '", samples.name(), "' has samples of ", given,
           " bytes with labels: ", samples.labels());
}

std::unique_ptr<Samples> open_data(const std::optional<std::string>& named, std::uint64_t seed, const Network& network,
                                   const Notify& notify, const Meaning& known) {
  std::unique_ptr<Samples> data = open_spec(named.value_or(made_for(network)), seed, network, notify, known);
  check_means(known, data->meaning(), data->name());
  return data;
}

std::unique_ptr<Samples> open_data(const DataSetting& setting, std::uint64_t seed, const Network& network,
                                   const Notify& notify, const Meaning& known) {
  if (setting.tokenizer.empty() || !setting.spec) return open_data(setting.spec, seed, network, notify, known);
  std::unique_ptr<Samples> data =
      open_data(with_tokenizer(*setting.spec, setting.tokenizer), seed, network, notify, known);
  if (DataSpec(*setting.spec).kind != "tokens") return data;
  const std::string made = data->meaning().tokenizer;
  if (const std::string makes = made.empty() ? "" : made_by(setting.tokenizer, notify); !makes.empty())
    check_as(Exit::Data, made == makes, data->name(), ": are those of ", made, ", the tokenizer in ", setting.tokenizer,
             " makes those of ", makes);
  return data;
}

void fit_to_data(NetworkSetting& network, const DataSetting& data) {
  if (!data.spec) return;
  const DataSpec spec(*data.spec);
  if (spec.kind != "jsonl") return;
  if (!network.ignore) network.ignore = -1;
  network.packed = spec.packs();
}

void take_several_texts(Network& network) {
  if (takes_sequences(network))
    with_context("several texts in a window, where jsonl:FILE,no-pack has one",
                 [&] { pack_texts(network, fed_inputs(network).samples); });
}

void take_bytes(Network& network, const std::optional<PixelNorm>& pixels) {
  if (!pixels || !is_fed_by_data(network)) return;
  if (const VarId samples = fed_inputs(network).samples; can_feed_bytes(network, samples))
    feed_bytes(network, samples, *pixels);
}

}  // namespace lethe
