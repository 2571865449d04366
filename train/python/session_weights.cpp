// The part of a session that is about weights: arrays, checkpoints, exports.
#include <filesystem>
#include <utility>

#include "framework/error.h"
#include "train/python/python_session.h"
#include "train/recipe.h"
#include "train/report/option_names.h"
#include "train/session/onnx_file.h"
#include "train/session/run_tensors.h"
#include "train/session/weights.h"

namespace lethe {

std::vector<WeightArray> PythonSession::weights() {
  begin();
  const Store& store = session_->store();
  std::vector<WeightArray> all;
  for (const StoredTensor& each : shown_weights(store, network(), {})) {
    check(is_float(each.var.dtype), each.var.name, ": is in ", name_of(each.var.dtype),
          ", which no array has; a file of weights has it");
    std::vector<std::vector<std::byte>> values = to_file(each, store.read_whole(each.var));
    const std::vector<TensorEntry> entries = tensors_of(each);
    for (std::size_t i = 0; i < entries.size(); ++i)
      all.push_back({entries[i].name, each.var.dtype, entries[i].shape, std::move(values[i])});
  }
  return all;
}

void PythonSession::load(const std::vector<ArrayView>& arrays, const WeightsSetting& how) {
  begin();
  ArrayTensors tensors(arrays);
  for (const std::string& line : load_weights(tensors, session_->store(), network(), how).lines) say(line);
  begin_averages(session_->store());
}

std::string PythonSession::save(const std::string& directory) {
  begin();
  const std::string place = std::filesystem::weakly_canonical(directory).string();
  const bool is_own = !start_.save.empty() && place == std::filesystem::weakly_canonical(start_.save).string();
  if (is_own && !lock_) {
    std::filesystem::create_directories(directory);
    lock_ = lock_run(given_, start_);
  }
  check(is_own || saved_in_.contains(place) || find_latest(directory).empty(), directory,
        ": holds checkpoints of a run already; go on with it by resume(), or save elsewhere");
  RunState state = session_->state();
  const std::int64_t per_epoch = has_data_ ? session_->batches().per_epoch() : state.step + 1;
  state.epoch = state.step / per_epoch;
  state.batch_in_epoch = state.step % per_epoch;
  const CheckpointOptions& how = options_.checkpoints;
  std::string saved = Checkpoints(directory, how.keep, how.sharded).save(state, session_->store(), network());
  saved_in_.insert(place);
  return saved;
}

void PythonSession::resume(const std::string& directory) {
  const Start start = find_start("", directory);
  check_fits(start, values_to_keep(options_), network().name, id_);
  begin();
  for (const std::string& line : load_checkpoint(start.checkpoint, start.state, session_->store(), network()))
    say(line);
  RunState& state = session_->state();
  state.step = start.state.step;
  state.best_score = start.state.best_score;
  state.best_step = start.state.best_step;
  state.evaluations_since_best = start.state.evaluations_since_best;
  state.meaning = start.state.meaning;
  state.elsewhere = start.state.elsewhere;
  results_.reset();
  saved_in_.insert(std::filesystem::weakly_canonical(directory).string());
}

void PythonSession::export_onnx(const std::string& file, std::int64_t opset, const std::string& dtype,
                                bool preprocess) {
  begin();
  check(opset >= 17 && opset <= 23, "`opset` ", opset, ": expected 17 to 23");
  check(file.ends_with(".onnx"), file, ": an ONNX file ends in .onnx");
  const Meaning known = meaning();
  OnnxSetting setting{.opset = opset, .classes = known.classes, .version = LETHE_VERSION};
  if (!dtype.empty()) setting.dtype = dtype_named(dtype);
  check(!preprocess || !known.mean.empty(), "`preprocess`: nothing says how the images of ", network().name,
        " are normalised; a session with `data` of images does");
  if (preprocess) setting.preprocess = PixelNorm{known.mean, known.deviation};
  save_onnx(file, session_->store(), options_.program.network, setting);
}

}  // namespace lethe
