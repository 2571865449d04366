#include "train/weights_recipe.h"

#include <algorithm>

#include "framework/error.h"
#include "train/recipe.h"
#include "train/session/fed_data.h"
#include "train/session/programs.h"

namespace lethe {
namespace {

constexpr std::size_t kShownNames = 100;  // characters of a list of them

/// `named` is what the command line says; a run that holds its network needs no look at that. Batch, dtype and seed are
/// part of a program, so they are the run's.
void check_network(const std::string& named, const SavedRun& run) {
  if (named.empty() && !run.state.file.name.empty()) return;
  OptionValues values;
  for (const char* name : {"model", "set", "dtype", "sync-bn"})
    if (const auto found = run.state.options.find(name); found != run.state.options.end()) values.insert(*found);
  if (!named.empty()) values["model"] = named;
  NetworkSetting setting = with_values({}, values).program.network;
  setting.batch = run.state.batch;
  setting.seed = run.state.seed;
  check(network_id(setting) == run.state.program, named.empty() ? "" : "--model ", setting.model,
        named.empty() ? ": has changed since the run in " : ": is not the network of the run in ", run.checkpoint,
        named.empty() ? " trained it, which is too old to hold a copy"
                      : "; without --model its own copy of that is taken");
}

/// Of values those that say which adapters there are.
OptionValues adapters_in(const OptionValues& values) {
  OptionValues own;
  for (const char* name : {"lora", "lora-targets"})
    if (const auto found = values.find(name); found != values.end()) own.insert(*found);
  return own;
}

/// Fails for other adapters than those of the run, which would compute something else with its numbers.
void check_adapters(const OptionValues& given, const OptionValues& of_run, const SavedRun& run) {
  const OptionValues own = adapters_in(of_run);
  const auto setting = [&](OptionValues values) {
    values["model"] = of_run.at("model");
    LoraSetting lora = with_values({}, values).program.network.lora;
    lora.dropout = 0;  // which changes nothing that was trained
    return lora;
  };
  if (!own.contains("lora") || !setting(own).any()) return;
  for (const auto& [name, value] : adapters_in(given)) {
    OptionValues changed = own;
    changed[name] = value;
    const auto trained = own.find(name);
    check(setting(changed) == setting(own), "--", name, value.empty() ? "" : " ", value, ": the run in ",
          run.checkpoint, " has ",
          trained == own.end() || trained->second.empty() ? "those by default" : trained->second,
          "; its adapters are no others");
  }
}

/// `--lora` without words beside a run that has adapters means those.
Options with_lora_of_run(const Options& given, const OptionValues& of_run) {
  const auto said = given.given.find("lora");
  if (said == given.given.end() || !said->second.empty() || !of_run.contains("lora")) return given;
  OptionValues values = given.given;
  values.erase("lora");
  return with_only(given, values);
}

}  // namespace

Options decided_by_run(const Options& asked, const std::optional<SavedRun>& run) {
  Options given = asked;
  OptionValues of_run;
  if (run) {
    const OptionValues all = options_in(run->checkpoint, run->state);
    of_run = with_fact(*given.command, all, Fact::OfNetwork);
    if (const auto at_once = all.find("micro-batch"); at_once != all.end())
      of_run["batch"] = at_once->second;  // which fitted the run
  }
  if (given.command->facts.one_sample) of_run.erase("batch");  // there are as many samples as files; or one
  check(!given.program.network.model.empty() || of_run.count("model") != 0, "--model is missing: no run stands beside ",
        given.checkpoints.weights.path,
        " to say which network it is of; a name such as lenet or resnet20, or a JSON file");
  if (run) {
    check_network(given.program.network.model, *run);
    given = with_lora_of_run(given, of_run);
    check_adapters(given.given, of_run, *run);
  }
  return decided(given, of_run);
}

DataSetting data_beside_weights(const Options& options, const Notify& notify) {
  DataSetting data = options.data;
  if (options.checkpoints.weights.path.empty()) return data;
  const std::optional<SavedRun> run = run_of_weights(options.checkpoints.weights.path);
  const WeightsSetting& weights = options.checkpoints.weights;
  if (run && weights.fresh.empty() && weights.ignore.empty())
    check_adapters(options.given, options_in(run->checkpoint, run->state), *run);
  const Meaning known = meaning_of(run);
  data.known = {.alphabet = known.alphabet, .tokenizer = known.tokenizer};
  if (run) return data;
  data.known.mean = options.of_folder.mean;
  data.known.deviation = options.of_folder.deviation;
  const bool has_names = !options.of_folder.classes.empty() && options.checkpoints.weights.fresh.empty();
  if (options.data.spec && !has_names) return data;
  const Network network = build_network(options.program.network, true);
  if (options.data.spec)
    data.known.classes = meaning_to_weights(options, run, network, notify).classes;
  else if (is_fed_by_data(network) && (takes_sequences(network) || takes_texts(network)))
    check_data_known(options, run);
  return data;
}

void check_data_known(const Options& options, const std::optional<SavedRun>& run) {
  check(run || options.data.spec, "--data is missing: no run stands beside ", options.checkpoints.weights.path,
        " to say what labels and symbols stand for");
}

Meaning meaning_of(const std::optional<SavedRun>& run) { return run ? run->state.meaning : Meaning{}; }

Meaning meaning_to_weights(const Options& options, const std::optional<SavedRun>& run, const Network& network,
                           const Notify& notify) {
  if (run) return run->state.meaning;
  Meaning known = options.of_folder;
  if (std::ssize(known.classes) != network.classes) known.classes.clear();
  if (known.classes.empty() || !options.data.spec) return known;
  const auto classes_as = [&](const Meaning& meaning) {
    return open_data(options.data, options.program.network.seed, network, {}, meaning)->classes();
  };
  try {
    classes_as(known);
  } catch (const Error&) {
    Meaning by_order = known;
    by_order.classes.clear();
    const std::vector<std::string> names = classes_as(by_order);
    if (std::ranges::find_first_of(names, known.classes) != names.end()) return known;  // to be refused by name
    notify(message("note: labels are ", shortened(joined(names), kShownNames), "; to the model of the folder they are ",
                   shortened(joined(known.classes), kShownNames), ", in this order"));
    return by_order;
  }
  return known;
}

void note_other_numbers(const Options& options, const std::optional<SavedRun>& run, const Notify& notify) {
  if (!run) return;
  const auto value_in = [](const OptionValues& values, const std::string& name) {
    const auto found = values.find(name);
    return found != values.end() ? found->second : name == "device" ? "cpu" : "false";
  };
  const OptionValues kept = values_to_keep(options);
  OptionValues rounds = with_fact(*options.command, run->state.options, Fact::Rounds);
  rounds.merge(with_fact(*options.command, kept, Fact::Rounds));
  std::vector<std::string> differ;
  for (const auto& [name, value] : rounds) {
    const std::string before = value_in(run->state.options, name), now = value_in(kept, name);
    if (before == now) continue;
    differ.push_back(before == "true"    ? message("--", name)
                     : before == "false" ? message("no --", name)
                                         : message("--", name, ' ', before));
  }
  if (!differ.empty()) notify(message("note: the run computed with ", joined(differ), ": last digits may differ here"));
}

}  // namespace lethe
