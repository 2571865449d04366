#include "train/adapter_folder.h"

#include <filesystem>

#include "framework/error.h"
#include "framework/name_pattern.h"
#include "train/lora_words.h"
#include "train/model_folder.h"
#include "train/session/adapter_config.h"
#include "train/session/adapter_files.h"
#include "train/session/library_weights.h"
#include "train/session/programs.h"
#include "train/session/start.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

std::string config_in(const std::string& folder) { return (fs::path(folder) / kAdapterConfig).string(); }

std::string without_mark(const std::string& value) { return value.starts_with("hf:") ? value.substr(3) : value; }

/// A value of --lora or --lora-targets with all that it leaves out, as lora_words() and lora_targets() have it.
std::string in_full(const std::string& name, const std::string& value, LoraSetting lora) {
  if (name == "lora") {
    if (!complaint_about_lora_words(value).empty()) return value;  // which is told where options are read
    read_lora_words(value, lora);
    return lora_words(lora);
  }
  if (name != "lora-targets" || !complaint_about_lora_targets(value).empty()) return value;
  lora.targets = lora_targets_in(value);
  return lora_targets(lora);
}

/// The network that the values, or else the run of `--weights`, mean.
NetworkSetting network_of(const OptionValues& values, const std::string& folder) {
  OptionValues all = values;
  if (const std::optional<SavedRun> run = run_of_weights(value_in(values, "weights"))) {
    OptionValues of_run = options_in(run->checkpoint, run->state);
    check(!of_run.contains("lora") || of_run["lora"] == "none", "--adapter ", folder, ": the run in ", run->checkpoint,
          " has adapters of its own; `train export --merge` makes weights of both");
    all.merge(of_run);
  }
  NetworkSetting network{.model = value_in(all, "model")};
  check(!network.model.empty(), "--model is missing: --adapter ", folder, " says nothing of what it stands beside");
  for (const std::string& item : patterns_in(value_in(all, "set")))
    if (const std::size_t equals = item.find('='); equals != std::string::npos)
      network.sets[item.substr(0, equals)] = item.substr(equals + 1);
  return network;
}

}  // namespace

OptionValues with_base_of_adapter(const OptionSet& set, OptionValues values, Options& options) {
  const std::string weights = value_in(values, "weights"), folder = without_mark(weights);
  if (!set.find("--adapter") || folder.empty() || !is_adapter_folder(folder)) return values;
  if (!library_weights_in(folder).empty() || !find_latest(folder).empty()) return values;
  check(!values.contains("adapter"), "--weights ", weights, ": an adapter, as --adapter names one already");
  values.erase("weights");
  values["adapter"] = folder;
  if (values.contains("model")) return values;
  const std::string base = read_adapter_config(config_in(folder)).base;
  check_as(Exit::Data, fs::exists(fs::path(base) / "config.json"), "--weights ", weights,
           ": an adapter without its base, ", base.empty() ? "of which it says nothing" : quote(base),
           "; --model hf:DIR names the folder of that, or --weights FILE --adapter ", folder, " its weights");
  values["model"] = "hf:" + base;
  options.notes.push_back(message(weights, ": an adapter of ", base));
  return values;
}

OptionValues with_adapter(const OptionSet& set, OptionValues values, const Options& options) {
  const std::string folder = without_mark(value_in(values, "adapter"));
  if (!set.find("--adapter") || folder.empty()) return values;
  if (const std::string resume = value_in(values, "resume"); !resume.empty()) {
    if (resume == "auto") values.erase("adapter");  // the run has taken it up when it began
    return values;                                  // else they exclude each other
  }
  values["adapter"] = folder;
  check_as(Exit::Data, is_adapter_folder(folder), "--adapter ", folder, ": no such folder with ", kAdapterConfig);
  const std::string file = config_in(folder);
  const LoraSetting lora = lora_of(read_adapter_config(file), build_network(network_of(values, folder), false), file);
  const auto say = [&](const char* name, const std::string& value) {
    std::string& said = values.emplace(name, value).first->second;
    check(said.empty() || in_full(name, said, lora) == value, "--", name, ' ', said, ": --adapter ", folder, " says ",
          shortened(value));
    if (said.empty() && !options.command->facts.writes_adapters) said = value;
  };
  say("lora", lora_words(lora));
  say("lora-targets", lora_targets(lora));
  if (!lora.train.empty()) say("lora-train", lora.train);
  return values;
}

}  // namespace lethe
