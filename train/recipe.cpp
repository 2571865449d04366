#include "train/recipe.h"

#include <algorithm>
#include <sstream>

#include "framework/error.h"
#include "framework/op_def.h"

namespace lethe {
namespace {

constexpr const char* kOfOptimizer[] = {"lr", "momentum", "weight-decay", "decay-all", "schedule"};

OptionValues built_in(const std::string& optimizer) {
  const bool adaptive = optimizer.compare(0, 4, "adam") == 0 || optimizer == "rmsprop";
  return {{"batch", "32"},    {"epochs", "10"},         {"lr", adaptive ? "0.001" : "0.01"},
          {"seed", "0"},      {"schedule", "constant"}, {"optimizer", "momentum"},
          {"augment", "none"}};
}

OptionValues network_values(const Options& options) {
  OptionValues values;
  for (const auto& [key, value] : train_defaults(options.model, sets_of(options))) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', '-');
    values[name] = value;
  }
  if (options.optimizer && values.count("optimizer") != 0 && values["optimizer"] != *options.optimizer)
    for (const char* name : kOfOptimizer) values.erase(name);
  if (options.command == Command::LrFind) values.erase("steps");
  if (options.command == Command::Show || options.command == Command::Predict)
    values.insert_or_assign("batch", std::string(1, '1'));
  return values;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

std::int64_t pixels_of(const std::string& word, const std::string& value, std::int64_t absent) {
  if (value.empty()) return absent;
  check(value.size() < 5 && value.find_first_not_of("0123456789") == std::string::npos, "--augment: '", word,
        "' must name pixels, as in ", word.substr(0, word.find('=')), "=", absent);
  return std::stoll(value);
}

/// A run that is resumed on the CPU leaves behind what it was told of a GPU.
OptionValues without_gpu_settings(const Options& given, OptionValues resumed) {
  const auto device = given.given.find("device");
  if (device != given.given.end() && device->second == "cpu")
    for (const char* name : {"tf32", "eager", "workspace-limit"}) resumed.erase(name);
  return resumed;
}

}  // namespace

Options decided(const Options& given, const OptionValues& resumed) {
  const Options with_resumed = with_values(given, without_gpu_settings(given, resumed));
  const OptionValues of_network = network_values(with_resumed);
  const Options with_network =
      with_context(with_resumed.model + ": \"train\"", [&] { return with_values(with_resumed, of_network); });
  return with_values(with_network, built_in(with_network.optimizer.value_or("")));
}

OptionValues values_to_keep(const Options& options) {
  static const char* const names[] = {
      "threads",  "device",    "tf32",     "eager",        "deterministic", "workspace-limit", "model",
      "set",      "dtype",     "data",     "augment",      "batch",         "steps",           "epochs",
      "lr",       "optimizer", "momentum", "weight-decay", "decay-all",     "clip-norm",       "loss-scale",
      "schedule", "patience",  "seed",     "keep",         "save-every",    "eval-every",      "log-every"};
  OptionValues kept;
  for (const char* name : names)
    if (const auto found = options.given.find(name); found != options.given.end()) kept.insert(*found);
  return kept;
}

Sets sets_of(const Options& options) {
  Sets sets;
  for (const std::string& text : options.set) {
    const std::size_t equals = text.find('=');
    sets[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return sets;
}

BuildOptions build_options(const Options& options, bool training) {
  return {.batch = options.batch.value_or(1),
          .dtype = options.dtype,
          .training = training,
          .seed = static_cast<std::int64_t>(options.seed.value_or(0))};
}

OptimizerSettings optimizer_of(const Options& options) {
  OptimizerSettings settings = optimizer_named(options.optimizer.value_or("sgd"));
  if (options.momentum) {
    using enum OptimizerType;
    if (settings.type == Sgd && *options.momentum > 0) settings.type = Momentum;
    check(settings.type != Adam && settings.type != AdamW, "--momentum: ", *options.optimizer, " has none");
    settings.momentum = *options.momentum;
  }
  if (options.weight_decay) settings.weight_decay = *options.weight_decay;
  settings.decay_all = options.decay_all;
  if (options.clip_norm) settings.clip_norm = *options.clip_norm;
  return settings;
}

Augmentation augmentation_of(const std::string& text) {
  static const std::vector<std::string> known = {"none", "pad-crop", "flip", "cutout", "random-crop"};
  Augmentation augmentation;
  for (const std::string& word : split(text, ',')) {
    const std::size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    std::replace(name.begin(), name.end(), '_', '-');
    if (name == "pad-crop") {
      augmentation.pad_crop = pixels_of(word, value, 4);
    } else if (name == "cutout") {
      augmentation.cutout = pixels_of(word, value, 8);
    } else if (name == "flip") {
      augmentation.flip = true;
    } else if (name == "random-crop") {
      augmentation.random_crop = true;
    } else {
      check(name == "none", "--augment: unknown word '", word, "'", did_you_mean(name, known));
    }
  }
  return augmentation;
}

}  // namespace lethe
