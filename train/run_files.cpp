#include "train/run_files.h"

#include <filesystem>
#include <map>
#include <optional>

#include "framework/error.h"
#include "train/recipe.h"
#include "train/report/tensorboard.h"

namespace lethe {
namespace {

/// What the best checkpoint is chosen by.
std::string best_in(const OptionValues& kept) {
  const auto best = kept.find("best");
  return best == kept.end() ? name_of(Best::Accuracy) : best->second;
}

}  // namespace

std::vector<std::unique_ptr<RecordFile>> open_records(const RunFiles& asked, const Start& start, const Notify& notify) {
  std::optional<std::int64_t> resumed_at;
  if (!start.checkpoint.empty()) resumed_at = start.state.step;
  std::string csv = asked.metrics;
  if (csv.empty() && !start.save.empty()) csv = (std::filesystem::path(start.save) / "metrics.csv").string();
  using Form = MetricsFile::Form;
  std::vector<std::unique_ptr<RecordFile>> files;
  if (!csv.empty()) files.push_back(std::make_unique<MetricsFile>(csv, Form::Csv, resumed_at, notify));
  if (!asked.log_json.empty())
    files.push_back(std::make_unique<MetricsFile>(asked.log_json, Form::Json, resumed_at, notify));
  if (!asked.tensorboard.empty()) files.push_back(std::make_unique<EventFile>(asked.tensorboard, resumed_at));
  return files;
}

RunState state_of(const Start& start, const Options& options, const Network& network, const std::string& id,
                  const std::string& data, const Meaning& meaning) {
  RunState state = start.state;
  state.network = network.name;
  state.program = id;
  state.seed = options.program.network.seed;
  state.batch = options.program.network.batch;
  state.learning_rate = options.course.lr;
  state.schedule = options.course.schedule_text;
  state.optimizer = options.program.update.name;
  state.meaning = meaning;
  const std::map<std::string, std::string> before = state.options;
  state.options = values_to_keep(options);
  if (best_in(before) != best_in(state.options)) state.best_score = kNotEvaluated, state.evaluations_since_best = 0;
  if (state.file.name.empty())
    state.file = *options.program.network.file;
  else
    state.options["model"] = before.at("model");  // not the copy in an older checkpoint
  state.data = state.options.contains("data") ? state.options["data"] : data;
  return state;
}

std::unique_ptr<Checkpoints> open_checkpoints(const Options& options, const Start& start, bool leads) {
  if (start.save.empty()) return nullptr;
  const bool writes = leads || options.checkpoints.sharded;
  return writes ? std::make_unique<Checkpoints>(start.save, options.checkpoints.keep, options.checkpoints.sharded)
                : std::make_unique<Checkpoints>();
}

std::unique_ptr<RunLock> lock_run(const Options& given, const Start& start) {
  if (start.save.empty()) return nullptr;
  auto lock = std::make_unique<RunLock>(start.save);
  const Start now = find_start(given.checkpoints.save, given.checkpoints.resume);
  check(start.moves || (now.checkpoint == start.checkpoint && now.state == start.state), start.save,
        ": another run has saved into it meanwhile; start again");
  return lock;
}

}  // namespace lethe
