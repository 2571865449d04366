#include "train/session/start.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "framework/builder/frozen.h"
#include "framework/builder/network_weights.h"
#include "framework/error.h"
#include "kernels/dtypes.h"
#include "train/session/adapter_files.h"
#include "train/session/library_weights.h"
#include "train/session/run_tensors.h"
#include "train/session/share_files.h"
#include "train/session/weights.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWeightsFile = "weights.safetensors";  // of a checkpoint

std::string find_checkpoint(const std::string& save, const std::string& resume) {
  if (resume.empty()) return "";
  return resume == "auto" ? find_latest(save) : checkpoint_in(resume);
}

bool is_same_place(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

/// Where a run begins and where it saves, found by names alone.
struct RunPlace {
  std::string checkpoint, save;  // "": none
  bool goes_on = false;          // a run that saves on where the checkpoint's run did
};

RunPlace run_place(const std::string& save, const std::string& resume) {
  const std::string checkpoint = find_checkpoint(save, resume);
  if (checkpoint.empty()) return {.checkpoint = "", .save = save};
  if (!save.empty()) return {checkpoint, save, resume == "auto" || is_same_place(save, resume)};
  // It saves on in the directory that was named, unless that is one checkpoint of a run.
  return {checkpoint, is_same_place(resume, checkpoint) ? "" : resume, true};
}

/// The setting that the option of this name sets, as messages name settings.
std::string setting_named(std::string option) {
  std::replace(option.begin(), option.end(), '-', '_');
  return '`' + option + '`';
}

void check_kept(const Start& start, const std::map<std::string, std::string>& options, const char* name) {
  const auto before = start.state.options.find(name), now = options.find(name);
  if (before == start.state.options.end() || now == options.end()) return;
  check(before->second == now->second, setting_named(name), ": the run in ", start.checkpoint, " has ", before->second,
        ", not ", now->second, "; it cannot go on with another");
}

/// Checks an option that decides which bits come out; a run that does not say it has what is built in.
void check_bits(const Start& start, const std::map<std::string, std::string>& options, const std::string& name,
                const std::string& built_in) {
  const auto value_in = [&](const std::map<std::string, std::string>& of) {
    const auto found = of.find(name);
    return found == of.end() ? built_in : found->second;
  };
  const std::string before = value_in(start.state.options), now = value_in(options);
  check(before == now, setting_named(name), ": the run in ", start.checkpoint, " has ", before, ", not ", now,
        "; it cannot go on with another");
}

void tell(const Notify& notify, const std::vector<std::string>& lines) {
  if (!notify) return;
  for (const std::string& line : lines) notify(line);
}

/// Whether a run's checkpoint holds it, which goes as the run goes on.
bool is_of_run(const WeightsElsewhere& elsewhere) {
  return is_checkpoint(fs::path(elsewhere.files.front()).parent_path());
}

/// What checkpoints of a run hold of its weights that stay as they are.
std::string note_on_elsewhere(const std::vector<WeightsElsewhere>& elsewhere, std::size_t still) {
  const std::size_t named = names_of(elsewhere).size();
  if (still == 0) return "`save_frozen` no changes nothing, since nothing is frozen";
  if (named == 0) return "checkpoints hold all frozen weights, since none is known to be as a file has it";
  const std::size_t more = elsewhere.size() - 1;
  return message("checkpoints do not hold ", named, " of ", still, " frozen weights but need them from ",
                 elsewhere.front().files.front(), more > 0 ? message(" and ", more, " more") : "",
                 "; keep that as it is");
}

}  // namespace

std::string weights_file(const std::string& path) {
  if (!fs::is_directory(path)) return path;
  const fs::path best = fs::path(path) / "best";
  if (fs::exists(best)) return tensors_in(best.string(), kWeightsFile);
  if (const std::string file = library_weights_in(path); !file.empty() && find_latest(path).empty()) return file;
  check_as(Exit::Data, !fs::exists(fs::path(path) / "config.json"), path, ": ", why_no_weights(path));
  return tensors_in(checkpoint_in(path), kWeightsFile);
}

std::string goes_on_in(const std::string& save, const std::string& resume) {
  const RunPlace place = run_place(save, resume);
  return place.goes_on ? place.save : "";
}

Start find_start(const std::string& save, const std::string& resume) {
  const RunPlace place = run_place(save, resume);
  Start start{.checkpoint = place.checkpoint, .save = place.save};
  if (!start.checkpoint.empty()) start.state = read_state(start.checkpoint);
  if (!place.goes_on && !start.save.empty() && !find_latest(start.save).empty())
    fail(start.save, ": holds checkpoints of a run already; go on with it by `resume` ", start.save,
         ", or save elsewhere");
  start.moves = !place.goes_on && !start.checkpoint.empty();
  if (!place.goes_on) start.state.best_score = kNotEvaluated, start.state.evaluations_since_best = 0;
  return start;
}

void check_fits(const Start& start, const std::map<std::string, std::string>& options, const std::string& network,
                const std::string& id) {
  if (start.checkpoint.empty()) return;
  if (start.state.network == network)
    for (const char* name : {"batch", "seed", "dtype"}) check_kept(start, options, name);
  check_bits(start, options, "shards", "1");
  check_bits(start, options, "sum-dtype", "f32");
  check_bits(start, options, "accumulate", "f32");
  check_bits(start, options, "grad-dtype", "f32");
  check_bits(start, options, "sync-bn", "false");
  check_bits(start, options, "lora", "none");
  check_bits(start, options, "lora-targets", "those by default");
  check_bits(start, options, "ema", "0");
  check_bits(start, options, "class-weights", "none");
  check_same_network(start.state, start.checkpoint, network, id);
}

std::vector<WeightsElsewhere> fill_store(const Start& start, std::uint64_t seed, const WeightsSetting& weights,
                                         const Network& network, Store& store, const Notify& notify) {
  store.initialize(network.program, network.params, seed);
  if (!start.checkpoint.empty()) tell(notify, load_checkpoint(start.checkpoint, start.state, store, network));
  std::vector<WeightsElsewhere> read = start.state.elsewhere;
  if (!weights.path.empty()) read = read_weights(weights, store, network, notify);
  if (start.checkpoint.empty()) begin_averages(store);
  if (weights.save_frozen.value_or(network.adapters.empty())) return {};
  std::vector<WeightsElsewhere> elsewhere = left_as_read(std::move(read), network);
  if (!weights.save_frozen) std::erase_if(elsewhere, is_of_run);
  const std::size_t still = still_weights(network).size();
  if (elsewhere.empty() && !weights.save_frozen) return {};
  check(!elsewhere.empty() || still == 0 || !start.checkpoint.empty(),
        "`save_frozen` no: no frozen weight is as a file has it, so there is none to name; `weights` begins with one");
  tell(notify, {note_on_elsewhere(elsewhere, still)});
  return elsewhere;
}

void fill_class_weights(const ClassWeights& weights, const Samples& data, const Network& network, Store& store) {
  const std::vector<double> values = values_of(weights, data, network.classes, network.ignored);
  const Var& var = network.program.vars[network.class_weights];
  for_wide(var.dtype, [&](auto zero) {
    const std::vector<decltype(zero)> stored(values.begin(), values.end());
    store.write(var.name, stored.data(), bytes_of(var));
  });
}

std::optional<SavedRun> run_of_weights(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const fs::path file = weights_file(path);
  check_as(Exit::Data, fs::exists(file), path, ": no such file or directory");
  const bool of_checkpoint = file.filename() == kWeightsFile || file.filename() == kShareIndex;
  const std::string checkpoint = file.parent_path().string();
  if (!of_checkpoint || !is_checkpoint(file.parent_path())) return std::nullopt;
  return SavedRun{.checkpoint = checkpoint, .state = read_state(checkpoint)};
}

std::map<std::string, std::string> options_in(const std::string& checkpoint, const RunState& state) {
  std::map<std::string, std::string> options = state.options;
  if (const std::string network = network_in(checkpoint, state); !network.empty()) options["model"] = network;
  return options;
}

std::vector<WeightsElsewhere> read_weights(const WeightsSetting& weights, Store& store, const Network& network,
                                           const Notify& notify) {
  const std::string file = weights_file(weights.path);
  const std::optional<SavedRun> run = run_of_weights(weights.path);
  if (run) check_unchanged(run->checkpoint, run->state, fs::path(file).filename().string());
  std::vector<WeightsElsewhere> from = run ? run->state.elsewhere : std::vector<WeightsElsewhere>{};
  const Loaded loaded = load_weights(file, store, network, weights, from);
  tell(notify, loaded.lines);
  const std::set<std::string> others = names_of(from);
  // A run's links go on to its next checkpoints.
  WeightsElsewhere own{.files = {(run ? fs::canonical(file) : fs::absolute(file)).string()}, .ignore = weights.ignore};
  for (const ParamInfo& info : weights_of(network))
    if (const Var& var = network.program.vars[info.var]; !others.contains(var.name))
      own.weights[var.name] = name_of(var.dtype);
  from.push_back(std::move(own));
  for (WeightsElsewhere& each : from)
    for (const std::string& anew : loaded.anew) each.weights.erase(anew);
  if (!weights.adapter.empty()) load_adapter(weights.adapter, store, network, from);
  return from;
}

}  // namespace lethe
