#include "train/start.h"

#include <filesystem>

#include "framework/error.h"
#include "train/recipe.h"
#include "train/session/weights.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWeightsFile = "weights.safetensors";  // of a checkpoint

std::string find_checkpoint(const Options& given) {
  if (given.resume.empty()) return "";
  return given.resume == "auto" ? find_latest(given.save) : checkpoint_in(given.resume);
}

bool is_same_place(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

/// Where a resumed run saves: on in the directory that was named, unless that is one checkpoint of a run.
std::string save_directory(const Options& given, const std::string& checkpoint) {
  if (!given.save.empty() || checkpoint.empty()) return given.save;
  return is_same_place(given.resume, checkpoint) ? "" : given.resume;
}

void check_kept(const Start& start, const Options& options, const char* name) {
  const auto before = start.state.options.find(name), now = options.given.find(name);
  if (before == start.state.options.end() || now == options.given.end()) return;
  check(before->second == now->second, "--", name, ": the run in ", start.checkpoint, " has ", before->second, ", not ",
        now->second, "; it cannot go on with another");
}

}  // namespace

Start find_start(const Options& given) {
  Start start{.checkpoint = find_checkpoint(given)};
  if (!start.checkpoint.empty()) start.state = read_state(start.checkpoint);
  start.save = save_directory(given, start.checkpoint);
  const bool goes_on = !start.checkpoint.empty() &&
                       (given.resume == "auto" || given.save.empty() || is_same_place(given.save, given.resume));
  if (!goes_on && !start.save.empty() && !find_latest(start.save).empty())
    fail(start.save, ": holds checkpoints of a run already; go on with it by --resume ", start.save,
         ", or save elsewhere");
  start.moves = !goes_on && !start.checkpoint.empty();
  if (!goes_on) start.state.best_accuracy = -1, start.state.evaluations_since_best = 0;
  return start;
}

void check_fits(const Start& start, const Options& options, const Network& network) {
  if (start.checkpoint.empty()) return;
  if (start.state.network == network.name)
    for (const char* name : {"batch", "seed", "dtype"}) check_kept(start, options, name);
  check_same_network(start.state, start.checkpoint, network.name, program_id(network.program));
}

void fill_store(const Start& start, const Options& options, const Network& network, Store& store) {
  store.initialize(network.program, network.params, *options.seed);
  if (!start.checkpoint.empty()) load_checkpoint(start.checkpoint, store, network);
  if (!options.weights.empty()) load_weights(weights_file(options.weights), store, network);
}

std::optional<RunState> run_of_weights(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const fs::path file = weights_file(path);
  check_as(Exit::Data, fs::exists(file), path, ": no such file or directory");
  const bool saved_by_run = file.filename() == kWeightsFile && fs::exists(file.parent_path() / "state.json");
  if (!saved_by_run) return std::nullopt;
  return read_state(file.parent_path().string());
}

Options decided_by_run(const Options& given, const std::optional<RunState>& run) {
  OptionValues of_run;
  if (run)
    for (const char* name : {"model", "set", "dtype", "data", "batch", "seed"})
      if (const auto found = run->options.find(name); found != run->options.end()) of_run.insert(*found);
  if (given.command == Command::Predict) of_run.erase("batch");  // there are as many samples as files
  check(!given.model.empty() || of_run.count("model") != 0, "--model is missing: no run stands beside ", given.weights,
        " to say which network it is of; a name such as lenet or resnet20, or a JSON file");
  return decided(given, of_run);
}

std::string weights_file(const std::string& path) {
  if (!fs::is_directory(path)) return path;
  const fs::path best = fs::path(path) / "best";
  return (fs::exists(best) ? best : fs::path(checkpoint_in(path))) / kWeightsFile;
}

}  // namespace lethe
