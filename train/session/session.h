// A network in training, from its file to trained weights:
//
//   Session session({.program = {.network = {.model = "lenet", .batch = 64}}, .device = {.threads = 1}});
//   const std::int64_t bytes = session.plan().bytes.total();  // no memory is taken before
//   const Record last = session.train({.lr = 0.05, .steps = 30});
//   const double accuracy = session.evaluator()->run().accuracy();  // beside last.loss
//
// Each part is made when it is first asked for, with what stands above it. A process may have many sessions, also in
// several threads; one session is for one thread at a time.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "train/session/evaluator.h"
#include "train/session/listener.h"
#include "train/session/metered_device.h"
#include "train/session/programs.h"
#include "train/session/start.h"

namespace lethe {

struct SessionSetting {
  ProgramSetting program = {};
  DataSetting data = {};
  DeviceSetting device = {};
  std::shared_ptr<Peers> peers = {};   // the other ranks; null: there are none
  std::chrono::seconds patience{120};  // how long GPUs may keep the others waiting
};

class Session {
 public:
  /// Builds the programs; fails as build_programs() does. `notify` hears of the data set. On a GPU it is opened here:
  /// programs that are fed bytes hold what normalises them.
  explicit Session(SessionSetting setting, Notify notify = {});

  const Programs& programs() const { return programs_; }
  const Network& network() const { return programs_.network; }
  const Samples& data();
  MeteredDevice& device();
  /// The batches of training, shuffled and augmented.
  Batches& batches();
  /// Every kernel chosen, every workspace known, every byte in its place; takes no memory yet.
  const Plans& plan();
  /// The kernels that it is planned for.
  Prepared& prepared();
  /// Takes the memory. Parameters are filled by the seed, or by what `fill` has said.
  Executor& executor();
  Store& store();
  /// Null if the setting says that training is never evaluated.
  Evaluator* evaluator();

  /// Nothing reads ahead any more, until it is next needed.
  void rest();
  /// Learns from these samples from here on, and is evaluated on them.
  void learn_from(std::shared_ptr<const Samples> samples);
  /// The scores of other samples: those of their test split.
  Scores scores_of(const Samples& samples);
  /// Runs another program over the same store, in the arena where that has room for it.
  std::unique_ptr<Executor> executor_of(const Planned& planned);

  /// Fills parameters from a checkpoint or weights instead (fill_store), of which `notify` hears. Must be called before
  /// executor().
  void fill_from(const Start& start, const WeightsSetting& weights);
  /// Trains to the end of the run, from where the session stands, and gives the last record of training. With
  /// `checkpoints` it saves there. Fails as Trainer::run() does.
  Record train(const RunSetting& run, Listener& listener, Checkpoints* checkpoints = nullptr);
  Record train(const RunSetting& run);
  /// Where the run stands.
  RunState& state() { return start_.state; }

 private:
  void open(const Network& network);
  Buffer* arena() { return plans_->arena > 0 ? arena_.get() : nullptr; }
  std::unique_ptr<Evaluator> evaluator_of(const Samples& samples);

  SessionSetting setting_;
  Notify notify_;
  Programs programs_;
  Start start_ = {};
  WeightsSetting weights_ = {};
  std::shared_ptr<const Samples> data_;
  std::unique_ptr<MeteredDevice> device_;
  std::unique_ptr<Batches> batches_;
  std::unique_ptr<Prepared> prepared_;
  std::optional<Plans> plans_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Buffer> arena_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace lethe
