// The two programs of a run: training with its backward and update ops, and evaluation; over one store.
#pragma once
#include <optional>

#include "framework/builder/builder.h"
#include "framework/run/executor.h"
#include "memopt/memopt.h"
#include "optimizer/optimizer.h"
#include "train/session/memory_guest.h"
#include "train/session/settings.h"

namespace lethe {

struct Programs {
  Network network = {};         // of training: the forward part; of a batch in parts also backward
  Program training = {};        // all of it
  VarId learning_rate = kNone;  // fed each step of training
  LossScale loss_scale = {};    // with f16
  double first_loss_scale = kInitialLossScale;
  bool clips = false;  // gradients, by their norm
  Network evaluation = {};
  std::optional<GuestProgram> guest = {};  // in a guest's memory: what `training` was before its updates
  bool trains() const { return learning_rate != kNone; }
};

/// A step cuts its batch into no more parts: each adds its ops to the program.
inline constexpr std::int64_t kMostParts = 1024;

/// Builds both, or evaluation alone, whose batch is a micro-batch then; fails unless a network that is trained has a
/// loss, and the batch can be cut into micro-batches.
Programs build_programs(const ProgramSetting& setting);
/// Names the network that is trained, its batch and its numbers, whatever the micro-batch is, and whatever is frozen
/// or has an adapter.
std::string network_id(const NetworkSetting& setting);
/// The forward part alone, fed in its own numbers; of one of `joint_parts` parts over which batch norm takes
/// statistics. Fails if what is frozen is no part of it, or all of it.
Network build_network(const NetworkSetting& setting, bool training, std::int64_t joint_parts = 1);

/// What two programs hold that run in turn over one store.
struct Together {
  Bytes bytes = {};
  std::int64_t arena = 0;  // bytes of the arena that both run in; 0: there is none
};
/// The first has all params and states of the second.
Together held_together(const Planned& first, const Planned& second);

/// Both as they will run, and where every byte of them will live.
struct Plans {
  Planned training, evaluation;
  Bytes bytes = {};        // together: params and states are the same, an arena is shared, other buffers are added
  bool at_most = false;    // how much of `bytes` is taken depends on the branches and trips that are
  std::int64_t none = 0;   // bytes that `--memopt none` takes
  std::int64_t arena = 0;  // bytes of the arena that both run in; 0: there is none
  /// Bytes of the least that level 3 found at any price, if it was asked; else those of these plans.
  std::int64_t least_feasible() const;
};
/// Without `evaluated` nothing is planned for evaluation beside training. Beside training in a guest's memory
/// evaluation is at level 2.
Plans plan_programs(const Programs& programs, bool evaluated, const MemorySetting& memory, Prepared& prepared);
/// What training takes at each price of level 3, with evaluation beside it, whose arena takes turns with training's.
std::vector<PricedBytes> sweep_programs(const Programs& programs, bool evaluated, const MemorySetting& memory,
                                        Prepared& prepared);
/// What plans must fit into, wherever one is held against memory: the limit, and no more than the device is known to
/// have. Without a limit that is all that a GPU by description has, and of what is free on a GPU that is there 95 %,
/// since it loads the code of kernels beside them. The most there is if nothing is known.
std::int64_t budget_on(const DeviceInfo& device, const std::optional<std::int64_t>& limit);
/// Fails with Exit::Budget if they take more than the setting's budget.
void check_budget(const ProgramSetting& setting, const Plans& plans);
/// What a run of these programs in turn holds from before its first step to its end, each piece aligned: params and
/// states, buffers, one arena. `Device::reserve` wants to know.
std::int64_t reserved_bytes(const std::vector<const Planned*>& programs, std::int64_t arena, std::int64_t alignment);

/// Feeds the learning rate of the next training step.
void feed_rate(Executor& executor, const Programs& programs, double rate);

/// What the memory stage is asked for: the setting with its pins, and what the run fetches after each step; of a
/// network without a loss that is its outputs.
MemoptOptions training_memopt(const MemorySetting& memory, const Network& network);
MemoptOptions evaluation_memopt(const MemorySetting& memory, const Network& network);

/// Evaluation alone, at the setting's level.
Planned plan_evaluation(const Network& network, const MemorySetting& memory, Prepared& prepared);
/// The program that is asked for, planned: the training program, or that of evaluation alone.
Planned planned_program(const ProgramSetting& setting, Prepared& prepared);
/// "128", "128 in 8 shards on 2 ranks", "128 in micro-batches of 32".
std::string batch_text(const ProgramSetting& setting);
/// What that is: "lenet, training, batch 64, f32".
std::string title_of(const ProgramSetting& setting);

}  // namespace lethe
