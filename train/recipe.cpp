#include "train/recipe.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "framework/error.h"
#include "framework/formatted.h"
#include "models/network.h"
#include "optimizer/older_schedule.h"
#include "optimizer/schedule.h"
#include "train/data/data_spec.h"
#include "train/lora_words.h"
#include "train/ranks/mpi.h"
#include "train/report/memory_report.h"
#include "train/report/option_names.h"
#include "train/report/progress.h"
#include "train/search/kernel_costs.h"
#include "train/search/what_fits.h"
#include "train/session/device.h"
#include "train/session/fed_data.h"
#include "train/session/measured_file.h"
#include "train/session/onnx_model.h"
#include "train/session/weights.h"

namespace lethe {
namespace {

OptionValues built_in(const std::string& optimizer) {
  const bool adaptive = optimizer.compare(0, 4, "adam") == 0 || optimizer == "rmsprop";
  const char* const rate = adaptive ? "0.001" : optimizer == "lion" ? "0.0001" : "0.01";
  return {{"batch", "32"},          {"epochs", "10"},          {"lr", rate},       {"seed", "0"},
          {"schedule", "constant"}, {"optimizer", "momentum"}, {"augment", "none"}};
}

/// What the network's file says to whoever says `given`.
OptionValues network_values(const Options& given) {
  const Command& command = *given.command;
  OptionValues values;
  for (const auto& [key, from_file] : train_defaults(*given.program.network.file, given.program.network.sets)) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', '-');
    if (!command.facts.trains && name == "steps") continue;  // of training, not of a sweep or a measurement
    values[name] = from_file.value;
    if (!given.given.contains(name))
      with_context(from_file.where, [&] {
        check_value(command, name, from_file.value);
        if (name == "schedule") parse_schedule(from_file.value);
      });
  }
  if (const auto own = values.find("optimizer");
      own != values.end() && given.given.contains("optimizer") && own->second != given.program.update.name)
    values = without_fact(command, std::move(values), Fact::OfOptimizer);
  if (command.facts.one_sample) values["batch"] = "1";
  return values;
}

/// A run that is resumed on a device of the other kind drops what it was told of its own.
OptionValues for_device(const Options& given, const OptionValues& resumed) {
  const auto now = given.given.find("device"), before = resumed.find("device");
  if (now == given.given.end()) return resumed;
  const bool was_cpu = before == resumed.end() || before->second == "cpu";
  return was_cpu == (now->second == "cpu") ? resumed : without_fact(*given.command, resumed, Fact::OfKind);
}

/// A command that starts and restarts a run says +warmup again where the run, begun by an older version, keeps to
/// *warmup.
bool repeats_older_schedule(const OptionValues& given, const OptionValues& resumed) {
  const auto again = given.find("schedule"), before = resumed.find("schedule");
  return again != given.end() && before != resumed.end() && in_older_sense(again->second) == before->second;
}

constexpr std::int64_t kMostLookedAt = 1 << 20;  // batch or context that is looked at

/// The batch has to be smaller than this: a run cannot fill one that is larger than its data.
std::int64_t limit_of_batch(const Options& options, ProgramSetting setting) {
  if (!options.facts.trains) return kMostLookedAt;
  setting.network.batch = least_batch(setting.network, true);
  const Network network = build_network(setting.network, true);
  return std::min(kMostLookedAt,
                  open_data(options.data, setting.network.seed, network, {}, {})->size(Split::Train) + 1);
}

std::string of_a_step(double overhead) {
  return formatted("%.1f %% of a step computed again, predicted", 100 * overhead);
}

/// What as much as a forward pass would give, instead of kOverheadOfAuto, as the end of a line; "" if nothing.
template <class Find>
std::string more_for_a_forward_pass(const Find& find, ProgramSetting setting, FitSearch search,
                                    const LargestFit& found) {
  constexpr double kSurely = 0.97;  // of what is expected to fit
  if (found.least_feasible >= found.bytes) return "";
  setting.memory.levels.overhead.reset();
  const double more_room = static_cast<double>(search.budget) / static_cast<double>(found.least_feasible);
  search.start = static_cast<std::int64_t>(kSurely * more_room * static_cast<double>(found.number));
  search.limit = std::min(search.limit, *search.start + 1);
  const LargestFit more = find(setting, search);
  if (!more.fits || more.number <= found.number) return "";
  return message("; --overhead ", std::ceil(100 * more.overhead), "% has room for ", more.number);
}

/// Settings that only some optimizers have are not of the others.
void check_update(const Options& o) {
  using enum OptimizerType;
  const OptimizerType type = o.program.update.rule.type;
  const bool adam = type == Adam || type == AdamW, has_betas = adam || type == Lion;
  const std::pair<const char*, bool> kHas[] = {{"momentum", !has_betas && type != Adafactor},
                                               {"beta1", has_betas},
                                               {"beta2", has_betas},
                                               {"eps", adam || type == RmsProp}};
  for (const auto& [name, has] : kHas)
    check(has || !o.given.contains(name), "--", name, ": ", o.program.update.name, " has none");
}

/// What they do not mean is said before anything is planned, which takes long.
void check_fresh(const Options& o) {
  const WeightsSetting& weights = o.checkpoints.weights;
  if (weights.path.empty() || weights.fresh.empty()) return;
  NetworkSetting network = o.program.network;
  network.batch = least_batch(network, true);
  fresh_weights(weights.fresh, build_network(network, true));
}

/// What follows from several options. A size of `auto` may still be open; then this is done again with the one found.
Options settled(Options o) {
  check(o.skip_bad == 0, "--skip-bad is of image files: it needs --data imagefolder:DIR");
  ProgramSetting& program = o.program;
  fit_to_data(program.network, o.data);
  if (program.training)
    check_update(o);
  else
    program.update = {};
  if (OptimizerSettings& rule = program.update.rule; rule.type == OptimizerType::Sgd && rule.momentum > 0)
    rule.type = OptimizerType::Momentum;
  program.update.rates.lr = o.course.lr;
  program.mixes = o.data.augment.mixing.any();
  if (program.micro_batch == program.network.batch) program.micro_batch = 0;
  o.course.schedule = parse_schedule(o.course.schedule_text);  // not before: one given may repeat an older version's
  if (is_gpu(o.device)) program.pixels.emplace();
  if (counts_classes(o.course.best)) program.network.logits = true;
  program.memory.keeps_prediction = program.network.logits;
  if (OpCosts& costs = program.memory.levels.costs; !o.costs.empty() && !costs.seconds_of)
    costs = {is_processor(o.costs) ? shipped_costs(o.costs, o.device) : measured_costs(o.device, o.costs), o.costs};
  return o;
}

/// The context has to be smaller than this.
std::int64_t limit_of_context(const Options& options) {
  return options.most_context > 0 ? std::min(kMostLookedAt, options.most_context + 1) : kMostLookedAt;
}

/// For `--batch auto`, `--micro-batch auto` and `--context auto`.
Options with_largest(Options options) {
  const char* const name = options.largest.batch ? "batch" : options.largest.context ? "context" : "micro-batch";
  check(!options.largest.batch || !options.given.contains("micro-batch"),
        "--batch auto goes without --micro-batch: in parts a batch has no largest size");
  check(!options.largest.context || (!options.largest.batch && !options.largest.micro_batch), "--context auto and --",
        options.largest.batch ? "batch" : "micro-batch", " auto: one of them has to be a number");
  const DeviceInfo device = device_info(options.device);
  const MemoptOptions& levels = options.program.memory.levels;
  check(levels.budget || device.memory > 0, "--", name, " auto needs --memory-budget: how much memory the ",
        device.name, " has is not known");
  const bool any_price = levels.level == Level::Recompute && !levels.overhead;
  if (any_price) options = decided_with(options, "overhead", message(100 * kOverheadOfAuto, "%"));
  const ProgramSetting setting = options.program;
  Progress progress(stderr, options.quiet);
  FitSearch search{.device = device,
                   .budget = budget_on(device, levels.budget),
                   .limit = options.largest.batch     ? limit_of_batch(options, setting)
                            : options.largest.context ? limit_of_context(options)
                                                      : kMostLookedAt,
                   .tried = [&](const LargestFit& tried) {
                     progress.show(message("--", name, " auto: ", tried.number, " takes ", mebibytes(tried.bytes),
                                           " of ", mebibytes(budget_on(device, levels.budget))));
                   }};
  const auto find = options.largest.batch     ? largest_batch
                    : options.largest.context ? largest_context
                                              : largest_micro_batch;
  if (options.largest.batch && levels.level == Level::Recompute) {
    ProgramSetting level2 = setting;
    level2.memory = memory_setting("level=2", setting.memory);
    if (const LargestFit plain = largest_batch(level2, search); plain.fits) search.start = start_at_level3(plain);
  }
  const LargestFit found = find(setting, search);
  check(found.number > 0, "--", name, " auto: ", options.program.network.model,
        " takes more samples at once than there are");
  const bool more_would_do = !found.fits && any_price && found.least_feasible < found.bytes;
  check_as(Exit::Budget, found.fits, options.program.network.model, ": not even a ", name, " of ", found.number,
           " fits into ", search.budget, " bytes with ", options.program.memory.text, ", it takes ", found.bytes,
           more_would_do ? message("; with a higher --overhead at least ", found.least_feasible) : "");
  progress.note(message("--", name, " auto is ", found.number, ": ", mebibytes(found.bytes), " of ",
                        mebibytes(search.budget), found.overhead > 0 ? ", " + of_a_step(found.overhead) : "",
                        any_price ? more_for_a_forward_pass(find, setting, search, found) : ""));
  const Options all = with_value(options, name, std::to_string(found.number));
  return settled(options.largest.context ? with_values(all, {{"set", message(kContextVar, '=', found.number)}}) : all);
}

/// `--context N` is `--set length=N` of a network that has such a var.
Options with_context_set(const Options& options) {
  const NetworkSetting& network = options.program.network;
  if (options.context == 0 && !options.largest.context) return options;
  check(has_var(*network.file, kContextVar), "--context: ", network.model, " has no var ", quote(kContextVar),
        ", by which a network of sequences says how many symbols it reads");
  check(!network.sets.contains(kContextVar), "--context and --set ", kContextVar, " say the same; give one of them");
  return options.context > 0 ? with_values(options, {{"set", message(kContextVar, '=', options.context)}}) : options;
}

/// What masks say of pixels that do not count is `--set ignore=N` of a network that has such a var.
Options with_ignored_set(const Options& options) {
  constexpr const char* kVar = "ignore";
  const DataSpec spec(options.data.spec.value_or(""));
  const NetworkSetting& network = options.program.network;
  const auto ignored = spec.options.find(kVar);
  if (spec.kind != "masks" || ignored == spec.options.end() || !has_var(*network.file, kVar)) return options;
  const auto set = network.sets.find(kVar);
  if (set == network.sets.end()) return with_values(options, {{"set", message(kVar, '=', ignored->second)}});
  check(set->second == ignored->second, "--data ", spec.text, " and --set ignore=", set->second,
        ": both say which label does not count");
  return options;
}

/// A run that goes on needs the choices that it began with, or its bits are others.
std::shared_ptr<Trials> trials_by(const Options& options, bool resumed) {
  check(!options.largest.any(),
        "--autotune does not go with a batch of auto, or a context: it would try the convolutions of each that is "
        "looked at");
  check(
      !resumed || std::filesystem::exists(options.autotune), "--autotune: ", options.autotune,
      ", by which the run began, is not there; with --autotune FILE it goes on by other choices, and with other bits");
  return trials_of(options.autotune, options.device.name, say);
}

/// Of a network file, or of a model of others.
NetworkFile network_file_of(const std::string& model, bool quiet) {
  if (!is_onnx(model)) return read_network_file(model);
  OnnxModel read = read_onnx_model(model);
  if (Progress progress(stderr, quiet); number_by_mpi().value_or(0) == 0)
    for (const std::string& note : read.imported.notes) progress.note(model + ": " + note);
  return std::move(read.file);
}

}  // namespace

Options decided(const Options& first, const OptionValues& resumed) {
  if (Progress progress(stderr, first.quiet); number_by_mpi().value_or(0) == 0)
    for (const std::string& note : first.notes) progress.note(note);
  const Command& command = *first.command;
  OptionValues given = first.given;
  for (const auto& [name, largest] :
       {std::pair("batch", first.largest.batch), {"micro-batch", first.largest.micro_batch}})
    if (largest && resumed.contains(name)) given.erase(name);  // it was found when the run began
  if (repeats_older_schedule(given, resumed)) given.erase("schedule");
  lay_under(command, given, for_device(first, resumed));
  Options with_resumed = with_only(first, given);
  NetworkSetting& network = with_resumed.program.network;
  if (!network.file) network.file = std::make_shared<NetworkFile>(network_file_of(network.model, first.quiet));  // once
  with_resumed = with_ignored_set(with_context_set(with_resumed));
  OptionValues all = with_resumed.given;
  lay_under(command, all, network_values(with_resumed));
  const auto optimizer = all.find("optimizer");
  lay_under(command, all, built_in(optimizer == all.end() ? "" : optimizer->second));
  Options options = with_context(network.model + ": \"train\"", [&] { return with_only(with_resumed, all); });
  if (!options.autotune.empty()) options.device.trials = trials_by(options, !first.given.contains("autotune"));
  if (command.facts.one_sample && !command.facts.evaluates && !with_resumed.given.contains("batch"))
    options.program.network.batch = least_batch(options.program.network, options.program.training);
  options = settled(std::move(options));
  check_fresh(options);
  return options.largest.any() ? with_largest(options) : options;
}

Options decided_with(const Options& options, const std::string& name, const std::string& value) {
  return settled(with_value(options, name, value));
}

Options decided_for_timing(const Options& given) {
  const Options options = decided(given);
  if (options.data.spec) return options;
  const Network network = build_network(options.program.network, true);
  if (!is_fed_by_data(network) || takes_texts(network)) return options;
  return decided_with(options, "data", "synthetic");
}

OptionValues values_to_keep(const Options& options) {
  OptionValues kept = with_fact(*options.command, options.given, Fact::Kept);
  if (const auto data = kept.find("data"); data != kept.end()) data->second = DataSpec(data->second).absolute();
  for (const char* name : {"autotune", "tokenizer"})
    if (const auto place = kept.find(name); place != kept.end())
      place->second = std::filesystem::absolute(place->second).string();
  // As their values are and not as they were typed: a run that goes on is held to them.
  const LoraSetting& lora = options.program.network.lora;
  if (const auto words = kept.find("lora"); words != kept.end()) words->second = lora_words(lora);
  if (const auto targets = kept.find("lora-targets"); targets != kept.end()) targets->second = lora_targets(lora);
  if (const auto ema = kept.find("ema"); ema != kept.end())
    ema->second = options.program.update.ema > 0 ? text_of(Attr(options.program.update.ema)) : "0";
  return kept;
}

}  // namespace lethe
