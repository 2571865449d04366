// What lethe.Session is: a session that the options of the command line describe, with its run. Knows nothing of
// Python.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "train/python/array_tensors.h"
#include "train/python/asked.h"
#include "train/python/rows.h"
#include "train/run_files.h"
#include "train/session/session.h"
#include "train/session/step_results.h"

namespace lethe {

class PythonSession {
 public:
  /// Fails as the command line does. `network` stands for the file that --model names.
  PythonSession(std::vector<std::string> arguments, const std::optional<NetworkFile>& network);

  const Network& network() const { return session_->network(); }
  Meaning meaning();
  const Options& options() const { return options_; }
  /// One step on a batch; without a rate by the schedule.
  Record train_step(ArrayRows& batch, std::optional<double> rate);
  /// To the end of a run of so many epochs or steps, or of as many as the options say; null: on the data it has.
  Record train(std::shared_ptr<const Samples> data, std::optional<std::int64_t> epochs,
               std::optional<std::int64_t> steps, Listener& listener);
  Scores evaluate(const std::shared_ptr<const Samples>& data);
  /// The prediction for each row, batch by batch, as files state its shape; labels and targets may be missing.
  WeightArray predict(ArraysByName arrays);
  std::vector<WeightArray> weights();
  /// From arrays, by the rules of files of weights; gives what there is to say.
  void load(const std::vector<ArrayView>& arrays, const WeightsSetting& how);
  std::string save(const std::string& directory);
  void resume(const std::string& directory);
  void export_onnx(const std::string& file, std::int64_t opset, const std::string& dtype, bool preprocess);

  /// As the keywords: what of a run this session keeps, which single steps do not give.
  std::vector<std::string> keeps() const;
  /// By the names of options: what it was asked for.
  const OptionValues& given() const { return given_.given; }
  /// Where it stands: for any thread, while it works of the last record.
  struct Standing {
    std::atomic<std::int64_t> step = 0, peak = 0;
  };
  const Standing& standing() const { return standing_; }
  void note_standing();
  /// Nothing of it calls Python any more, until it is asked again.
  void rest() { session_->rest(); }

  std::int64_t step() const { return begun_ ? session_->state().step : start_.state.step; }
  std::int64_t batch() const { return options_.program.network.batch; }
  bool evaluates() const { return options_.program.evaluated; }

 private:
  void begin();
  double rate_of_step();
  struct Predictions;

  RunFiles files_ = {};  // first: reading the options fills it in
  Options given_, options_;
  std::unique_ptr<RunLock> lock_;
  Start start_;
  std::string id_;
  bool begun_ = false, said_rate_ = false, has_data_;
  std::unique_ptr<Session> session_;
  std::optional<StepResults> results_;
  std::shared_ptr<Predictions> predictions_;
  std::vector<std::unique_ptr<RecordFile>> records_;
  std::set<std::string> saved_in_;
  Standing standing_;
};

}  // namespace lethe
