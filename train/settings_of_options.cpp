#include "train/settings_of_options.h"

#include "framework/error.h"
#include "train/data/augment.h"
#include "train/search/kernel_costs.h"
#include "train/session/device.h"

namespace lethe {
namespace {

constexpr Interval kEachEpoch{1, true};

/// The settings that only some optimizers have; fails if another is named beside them.
void set_of_adaptive(const Options& options, OptimizerSettings& settings) {
  using enum OptimizerType;
  const bool adam = settings.type == Adam || settings.type == AdamW;
  const auto set = [&](const char* name, const std::optional<double>& given, bool has, double& setting) {
    if (!given) return;
    check(has, name, ": ", options.optimizer.value_or("sgd"), " has none");
    setting = *given;
  };
  set("--beta1", options.beta1, adam, settings.beta1);
  set("--beta2", options.beta2, adam, settings.beta2);
  set("--eps", options.eps, adam || settings.type == RmsProp, settings.eps);
}

}  // namespace

Sets sets_of(const Options& options) {
  Sets sets;
  for (const std::string& text : options.set) {
    const std::size_t equals = text.find('=');
    sets[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return sets;
}

NetworkSetting network_setting(const Options& options) {
  return {.model = options.model,
          .file = options.file,
          .sets = sets_of(options),
          .dtype = options.dtype,
          .logits = options.logits,
          .batch = options.batch.value_or(1),
          .seed = options.seed.value_or(0),
          .sync_bn = options.ranks.sync_bn};
}

OptimizerSettings optimizer_of(const Options& options) {
  OptimizerSettings settings = optimizer_named(options.optimizer.value_or("sgd"));
  if (options.momentum) {
    using enum OptimizerType;
    if (settings.type == Sgd && *options.momentum > 0) settings.type = Momentum;
    check(settings.type != Adam && settings.type != AdamW, "--momentum: ", *options.optimizer, " has none");
    settings.momentum = *options.momentum;
  }
  set_of_adaptive(options, settings);
  if (options.weight_decay) settings.weight_decay = *options.weight_decay;
  settings.decay = options.decay_all ? "*" : options.decay.value_or("");
  settings.no_decay = options.no_decay.value_or("");
  if (options.clip_norm) settings.clip_norm = *options.clip_norm;
  return settings;
}

ProgramSetting program_setting(const Options& options) {
  check(options.skip_bad == 0, "--skip-bad is of image files: it needs --data imagefolder:DIR");
  ProgramSetting setting{.network = network_setting(options),
                         .micro_batch = options.micro_batch == options.batch ? 0 : options.micro_batch.value_or(0),
                         .shards = {.parts = options.ranks.shards.value_or(1),
                                    .rank = {.number = 0, .of = options.ranks.ranks},
                                    .bucket = options.ranks.bucket,
                                    .zero = options.ranks.zero,
                                    .sums = options.ranks.sums},
                         .memory = options.memopt,
                         .training = !options.inference,
                         .evaluated = is_evaluated(options)};
  setting.memory.keeps_prediction = options.logits;
  if (is_gpu(options.device)) setting.pixels.emplace();
  if (!options.costs.empty()) setting.memory.levels.seconds_of = measured_costs(options.device, options.costs);
  if (setting.training)
    setting.update = {
        .name = options.optimizer.value_or("sgd"), .rule = optimizer_of(options), .loss_scale = options.loss_scale};
  return setting;
}

DataSetting data_setting(const Options& options) {
  return {.spec = options.data, .augment = augmentation_of(options.augment.value_or("none"))};
}

RunSetting run_setting(const Options& options) {
  return {.lr = *options.lr,
          .schedule_text = *options.schedule,
          .schedule = parse_schedule(*options.schedule),
          .steps = options.steps,
          .epochs = options.epochs.value_or(0),
          .patience = options.patience,
          .save_every = options.save_every.value_or(kEachEpoch),
          .eval_every = options.eval_every.value_or(kEachEpoch),
          .log_every = options.log_every};
}

bool is_evaluated(const Options& options) { return !options.eval_every || options.eval_every->count > 0; }

}  // namespace lethe
