// The two programs of a run: training with its backward and update ops, and evaluation; over one store.
#pragma once
#include <optional>

#include "framework/builder.h"
#include "framework/executor.h"
#include "memopt/memopt.h"
#include "optimizer/optimizer.h"
#include "train/data/dataset.h"
#include "train/options.h"
#include "train/optnet_run.h"

namespace lethe {

struct Programs {
  Network network = {};         // of training: the forward part
  Program training = {};        // all of it
  VarId learning_rate = kNone;  // fed each step of training
  LossScale loss_scale = {};    // with f16
  Network evaluation = {};
  std::optional<TorchProgram> optnet = {};  // with --memopt optnet=: what `training` was before its updates
};

/// Builds both; fails unless the network has a loss. With --eval evaluation alone.
Programs build_programs(const Options& options);
/// The forward part alone.
Network build_network(const Options& options, bool training);

/// Both as they will run, and where every byte of them will live.
struct Plans {
  Planned training, evaluation;
  Bytes bytes = {};        // together: params and states are the same, an arena is shared, other buffers are added
  bool at_most = false;    // how much of `bytes` is taken depends on the branches and trips that are
  std::int64_t none = 0;   // bytes that `--memopt none` takes
  std::int64_t arena = 0;  // bytes of the arena that both run in; 0: there is none
};
/// Without `evaluated` nothing is planned for evaluation; with --eval nothing for training. Beside optnet's training
/// evaluation is at level 2.
Plans plan_programs(const Programs& programs, bool evaluated, const Options& options, Prepared& prepared);
/// What a run of these programs in turn holds from before its first step to its end, each piece aligned: params and
/// states, buffers, one arena. `Device::reserve` wants to know.
std::int64_t reserved_bytes(const std::vector<const Planned*>& programs, std::int64_t arena, std::int64_t alignment);
/// Whether training with these options stops to evaluate.
bool is_evaluated(const Options& options);

/// Feeds the learning rate of the next training step.
void feed_rate(Executor& executor, const Programs& programs, double rate);
/// Whether the command reads logits, which the plan of evaluation then keeps.
bool wants_logits(const Options& options);

/// What the memory stage is asked for: the options' setting and pins, and what the run fetches after each step; of a
/// network without a loss that is its outputs.
MemoptOptions training_memopt(const Options& options, const Network& network);
MemoptOptions evaluation_memopt(const Options& options, const Network& network);

/// Evaluation alone, under the options' setting.
Planned plan_evaluation(const Network& network, const Options& options, Prepared& prepared);
/// The program that the options ask for, planned: its training program, or with --eval that of evaluation.
Planned planned_program(const Options& options, Prepared& prepared);
/// What that is: "lenet, training, batch 64, f32".
std::string title_of(const Options& options);

/// What a data set is fed into, and what becomes of it. Each label is a row of its own in sample_loss and correct;
/// those of a sample stand together, in their order.
struct FedInputs {
  VarId samples = kNone, labels = kNone;
  std::int64_t rows = 1;  // labels of a sample
};
/// Fails unless the network has one input beside its labels, and its loss reads these as they are fed, or a view.
FedInputs fed_inputs(const Network& network);
/// How many of the first `count` labels count: those that the loss ignores do not.
std::int64_t counted(const Network& network, const std::int32_t* labels, std::int64_t count);
/// The data set of the options, in the size the network takes and with as many classes as its loss tells apart. Without
/// one in the options: sentences for a network that reads sequences of i32, shape-masks for one that takes a label for
/// each pixel, shapes for any other.
std::unique_ptr<Samples> open_data(const Options& options, const Network& network, const Notify& notify);

}  // namespace lethe
