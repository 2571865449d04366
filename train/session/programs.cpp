#include "train/session/programs.h"

#include <algorithm>
#include <limits>

#include "framework/autodiff/autodiff.h"
#include "framework/autodiff/loss_share.h"
#include "framework/builder/mixed_targets.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/ranks/micro_batches.h"
#include "framework/ranks/shared_params.h"
#include "optimizer/averages.h"
#include "train/session/fed_data.h"
#include "train/session/few_bits.h"
#include "train/session/run_state.h"
#include "train/session/shards.h"

namespace lethe {
namespace {

constexpr const char* kUnnamed = "the network";  // in messages: one that a program of one's own builds

std::vector<VarId> fetched(VarId a, VarId b) {
  std::vector<VarId> vars = {a, b};
  std::erase(vars, kNone);
  return vars;
}

/// Those of two plans, each in buffers of its own; those on demand are never held together.
Bytes in_turn(const Plan& first, const Plan& second) {
  Bytes bytes = first.bytes;
  bytes.inputs += second.bytes.inputs;
  bytes.temps += second.bytes.temps - std::min(first.on_demand, second.on_demand);
  bytes.workspace += second.bytes.workspace;
  return bytes;
}

/// Those of the first, in an arena that is as large as the second's at least.
Bytes in_one_arena(Bytes first, const Bytes& second) {
  first.temps = std::max(first.temps, second.inputs + second.temps - first.inputs);
  return first;
}

Planned plan_training(const Programs& programs, const MemorySetting& memory, Prepared& prepared) {
  if (programs.guest) return programs.guest->plan(programs.training, prepared);
  return plan_memory(programs.training, prepared, suited(training_memopt(memory, programs.network), prepared.device()));
}

Plan unshared_training(const Programs& programs, const MemorySetting& memory, Prepared& prepared) {
  if (programs.guest) return programs.guest->plan_unshared(prepared);
  return plan_unshared(programs.training, prepared, training_memopt(memory, programs.network));
}
Plan unshared_evaluation(const Network& network, const MemorySetting& memory, Prepared& prepared) {
  return plan_unshared(network.program, prepared, evaluation_memopt(memory, network));
}

/// That of evaluation between steps of training, whose pins are of training's vars.
MemorySetting beside_training(MemorySetting memory) {
  if (memory.guest) memory = memory_setting("level=2", std::move(memory));
  memory.levels.pins.skip_vars.clear();
  return memory;
}

Plans plans_of_evaluation(const Programs& programs, const MemorySetting& memory, Prepared& prepared) {
  Plans plans;
  plans.evaluation = plan_evaluation(programs.evaluation, memory, prepared);
  plans.bytes = plans.evaluation.plan.bytes;
  plans.none = unshared_evaluation(programs.evaluation, memory, prepared).bytes.total();
  if (plans.evaluation.arena) plans.arena = plans.evaluation.arena->bytes;
  return plans;
}

/// Whether it takes buffers on demand in blocks that may not run.
bool varies(const Planned& planned) { return planned.plan.on_demand > 0 && planned.program.blocks.size() > 1; }

/// Shards as in_parts() takes them: the norm of gradients is taken of whole ones, which shares are cut out of then.
Shards summed(Shards shards, bool by_norm) {
  if (by_norm) shards.zero = std::min(shards.zero, 1);
  return shards;
}

Plans plans_as_asked(const Programs& programs, bool evaluated, const MemorySetting& memory, Prepared& prepared) {
  if (!programs.trains()) return plans_of_evaluation(programs, memory, prepared);
  Plans plans{.training = plan_training(programs, memory, prepared), .evaluation = {}};
  Plan none_of_evaluation;
  if (evaluated) {
    plans.evaluation = plan_evaluation(programs.evaluation, beside_training(memory), prepared);
    none_of_evaluation = unshared_evaluation(programs.evaluation, beside_training(memory), prepared);
  }
  plans.at_most = varies(plans.training) || varies(plans.evaluation);
  const Together together = held_together(plans.training, plans.evaluation);
  plans.bytes = together.bytes;
  plans.arena = together.arena;
  plans.none = in_turn(unshared_training(programs, memory, prepared), none_of_evaluation).total();
  return plans;
}

void check_class_weights(const ProgramSetting& setting, const Network& network) {
  if (!setting.network.class_weights.any()) return;
  check(!setting.memory.guest, "`class_weights` goes with none and the levels");
  check(!setting.mixes, "`class_weights` goes without mixup and cutmix");
  check(network.class_weights != kNone, network.name,
        ": has no loss of labels whose classes `class_weights` could weigh");
  const auto numbers = std::ssize(setting.network.class_weights.each);
  check_as(Exit::Data, setting.network.class_weights.balanced || numbers == network.classes, "`class_weights` has ",
           numbers, " numbers, the network tells ", network.classes, " classes apart");
}

}  // namespace

Programs build_programs(const ProgramSetting& setting) {
  const Shards shards = shards_of(setting);
  const std::int64_t parts = shards.parts;
  check_few_bits(setting);
  NetworkSetting of = setting.network;
  of.batch /= parts;
  Programs programs{.evaluation = build_network(of, false)};
  const std::optional<PixelNorm> pixels = setting.memory.guest ? std::nullopt : setting.pixels;
  take_bytes(programs.evaluation, pixels);
  if (!setting.training) return programs;
  Network& network = programs.network = build_network(of, true, of.sync_bn ? parts : 1);
  take_bytes(network, pixels);
  check(network.loss != kNone, of.build ? kUnnamed : of.model, ": has no \"loss\" to train by");
  check_class_weights(setting, network);
  if (setting.mixes) mix_targets(network);
  check(!setting.memory.guest || (network.frozen.empty() && setting.update.ema == 0 && !setting.mixes),
        "`freeze`, `train_only`, `lora`, `ema`, mixup and cutmix go with none and the levels");
  if (setting.memory.guest) programs.guest = setting.memory.guest->lower(network, of.dtype);
  programs.training = programs.guest ? programs.guest->program : network.program;
  programs.first_loss_scale = setting.update.loss_scale.value_or(kInitialLossScale);
  if (of.dtype == DType::f16) programs.loss_scale = append_loss_scale(programs.training, programs.first_loss_scale);
  programs.clips = setting.update.rule.clip_norm > 0;
  const bool by_norm = programs.clips || of.dtype == DType::f16;
  std::vector<ParamGrad> gradients;
  if (programs.guest) {
    gradients = programs.guest->grads;
  } else if (parts == 1) {
    gradients = append_backward(programs.training, network.loss, {}, programs.loss_scale.scale, network.frozen,
                                keeps_gradients_narrow(of));
  } else {
    network.program = std::move(programs.training);
    const VarId share = append_loss_share(network.program, network.loss, parts, programs.loss_scale.scale);
    gradients = append_backward(network.program, network.loss, {}, share, network.frozen);
    NetworkWithGradients whole = in_parts({std::move(network), std::move(gradients)}, summed(shards, by_norm));
    network = std::move(whole.network);
    gradients = std::move(whole.gradients);
    programs.training = network.program;
  }
  programs.learning_rate =
      append_updates(programs.training, gradients, network.params, rule_of(setting, network), programs.loss_scale,
                     shards.zero > 0 ? shards.rank : Rank{}, rate_scales(network, setting.update.rates))
          .learning_rate;
  if (shards.zero == 3) {
    share_params(programs.training, params_to_share(programs.training), shards.rank);
    Program& evaluation = programs.evaluation.program;
    share_params(evaluation, params_to_share(evaluation), shards.rank);
  }
  gather_updated(programs.training, shards.bucket);
  average_weights(programs.training, programs.evaluation.program, network.params, setting.update.ema);
  return programs;
}

std::string network_id(const NetworkSetting& setting) {
  NetworkSetting trained = setting;
  trained.frozen = {}, trained.lora = {}, trained.ignore = {}, trained.packed = false, trained.param_dtype = {};
  return program_id(build_network(trained, true).program);
}

Network build_network(const NetworkSetting& setting, bool training, std::int64_t joint_parts) {
  BuildOptions options{.batch = setting.batch,
                       .dtype = setting.dtype,
                       .training = training,
                       .seed = static_cast<std::int64_t>(setting.seed),
                       .logits = setting.logits && !training,
                       .ignore = setting.ignore,
                       .joint_parts = joint_parts,
                       .class_weights = setting.class_weights.any()};
  const auto build = [&] {
    return setting.build  ? setting.build(options)
           : setting.file ? load_network(*setting.file, options, setting.sets)
                          : load_network(setting.model, options, setting.sets);
  };
  Network network = build();
  if (choose_trained(options, network, setting.frozen, setting.lora)) network = build();
  if (choose_bits(options, network, setting)) network = build();
  if (network.name.empty()) network.name = kUnnamed;
  if (setting.packed) take_several_texts(network);
  return network;
}

MemoptOptions training_memopt(const MemorySetting& memory, const Network& network) {
  MemoptOptions options = memory.levels;
  options.pins.fetched = fetched(network.loss, network.correct);
  return options;
}

MemoptOptions evaluation_memopt(const MemorySetting& memory, const Network& network) {
  MemoptOptions options = memory.levels;
  if (options.level == Level::Recompute) options.level = Level::Arena;  // there is no backward to compute for
  options.pins.skip_grads = false;
  options.clip_passes.reset();
  options.pins.fetched = fetched(network.sample_loss, network.correct);
  if (options.pins.fetched.empty()) options.pins.fetched = network.outputs;
  const bool predicts = memory.keeps_prediction || scored_numbers(network) > 0;
  if (predicts && network.prediction != kNone) options.pins.fetched.push_back(network.prediction);
  return options;
}

Planned plan_evaluation(const Network& network, const MemorySetting& memory, Prepared& prepared) {
  return plan_memory(network.program, prepared, suited(evaluation_memopt(memory, network), prepared.device()));
}

Together held_together(const Planned& first, const Planned& second) {
  if (!first.arena) return {.bytes = in_turn(first.plan, second.plan)};
  return {.bytes = in_one_arena(first.plan.bytes, second.plan.bytes),
          .arena = std::max(first.arena->bytes, second.arena ? second.arena->bytes : 0)};
}

Plans plan_programs(const Programs& programs, bool evaluated, const MemorySetting& memory, Prepared& prepared) {
  Plans plans = plans_as_asked(programs, evaluated, memory, prepared);
  const bool recomputes = programs.trains() && memory.levels.level == Level::Recompute && !programs.guest;
  if (!recomputes || plans.bytes.total() <= plans.none) return plans;
  // Of a tiny network: in an arena values begin at aligned places; in buffers of their own they take what they are.
  MemorySetting none = memory;
  none.levels.level = Level::None;
  plans = plans_as_asked(programs, evaluated, none, prepared);
  std::optional<Recomputed>& facts = plans.training.recomputed;
  (facts ? *facts : facts.emplace()).least_feasible = plans.bytes.total();
  return plans;
}

std::vector<PricedBytes> sweep_programs(const Programs& programs, bool evaluated, const MemorySetting& memory,
                                        Prepared& prepared) {
  const MemorySetting level3 = memory_setting("level=3", memory);
  std::vector<PricedBytes> points =
      sweep_memory(programs.training, prepared, suited(training_memopt(level3, programs.network), prepared.device()));
  if (!evaluated) return points;
  const Bytes beside = plan_evaluation(programs.evaluation, beside_training(level3), prepared).plan.bytes;
  std::vector<PricedBytes> all;
  for (PricedBytes& point : points) {
    point.bytes = in_one_arena(point.bytes, beside);
    if (all.empty() || point.bytes.total() < all.back().bytes.total()) all.push_back(point);
  }
  return all;
}

std::int64_t Plans::least_feasible() const {
  if (!training.recomputed || !training.recomputed->least_feasible) return bytes.total();
  const std::int64_t evaluated = evaluation.arena ? evaluation.arena->bytes : 0;
  return std::max(*training.recomputed->least_feasible, bytes.params + bytes.states + evaluated);
}

std::int64_t budget_on(const DeviceInfo& device, const std::optional<std::int64_t>& limit) {
  constexpr double kOfFree = 0.95;
  if (device.memory == 0) return limit.value_or(std::numeric_limits<std::int64_t>::max());
  if (limit) return std::min(*limit, device.memory);
  if (!device.properties.empty()) return device.memory;  // described
  return static_cast<std::int64_t>(kOfFree * static_cast<double>(device.memory));
}

void check_budget(const ProgramSetting& setting, const Plans& plans) {
  const std::optional<std::int64_t>& budget = setting.memory.levels.budget;
  const std::int64_t bytes = plans.bytes.total();
  if (!budget || bytes <= *budget) return;
  const NetworkSetting& of = setting.network;
  const bool least = setting.memory.levels.level == Level::Recompute && !setting.memory.levels.overhead;
  fail_as(Exit::Budget, of.build ? kUnnamed : of.model, " at batch ", batch_text(setting), " with ",
          setting.memory.text, " takes ", least ? "at least " : "", bytes, " bytes, more than the memory budget of ",
          *budget, "; `train plan` says what holds them and what takes less");
}

std::int64_t reserved_bytes(const std::vector<const Planned*>& programs, std::int64_t arena, std::int64_t alignment) {
  std::map<std::string, std::int64_t> stored;
  std::int64_t bytes = round_up(arena, alignment);
  for (const Planned* planned : programs) {
    for (const Var& var : planned->program.vars)
      if (is_persistable(var.kind)) stored[var.name] = round_up(bytes_of(var), alignment);
    const std::vector<PlannedBuffer>& buffers = planned->plan.buffers;
    for (std::size_t b = arena > 0 ? 1 : 0; b < buffers.size(); ++b)
      if (!buffers[b].on_demand) bytes += round_up(buffers[b].bytes, alignment);
  }
  for (const auto& [name, size] : stored) bytes += size;
  return bytes;
}

void feed_rate(Executor& executor, const Programs& programs, double rate) {
  const VarId var = programs.learning_rate;
  if (programs.training.vars[var].dtype == DType::f64) return executor.feed(var, &rate, sizeof rate);
  const auto single = static_cast<float>(rate);
  executor.feed(var, &single, sizeof single);
}

Planned planned_program(const ProgramSetting& setting, Prepared& prepared) {
  const Programs programs = build_programs(setting);
  return setting.training ? plan_training(programs, setting.memory, prepared)
                          : plan_evaluation(programs.evaluation, setting.memory, prepared);
}

}  // namespace lethe
