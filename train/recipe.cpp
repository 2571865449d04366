#include "train/recipe.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "framework/error.h"
#include "framework/op_def.h"
#include "optimizer/schedule.h"

namespace lethe {
namespace {

constexpr const char* kOfOptimizer[] = {"lr", "momentum", "weight-decay", "decay-all", "schedule"};

OptionValues built_in(const std::string& optimizer) {
  const bool adaptive = optimizer.compare(0, 4, "adam") == 0 || optimizer == "rmsprop";
  return {{"batch", "32"},    {"epochs", "10"},         {"lr", adaptive ? "0.001" : "0.01"},
          {"seed", "0"},      {"schedule", "constant"}, {"optimizer", "momentum"},
          {"augment", "none"}};
}

/// Fails unless the option takes the value.
void check_value(const Options& options, const std::string& name, const std::string& value) {
  with_values(options, {{name, value}});
  if (name == "schedule") parse_schedule(value);
  if (name == "optimizer") optimizer_named(value);
  if (name == "augment") augmentation_of(value);
}

OptionValues network_values(const Options& options) {
  OptionValues values;
  for (const auto& [key, from_file] : train_defaults(options.model, sets_of(options))) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', '-');
    if (options.command == Command::LrFind && name == "steps") continue;  // of training, not of a sweep
    values[name] = from_file.value;
    with_context(from_file.where, [&] { check_value(options, name, values[name]); });
  }
  if (options.optimizer && values.count("optimizer") != 0 && values["optimizer"] != *options.optimizer)
    for (const char* name : kOfOptimizer) values.erase(name);
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

/// Behind the word's '=', if it has one.
std::int64_t pixels_of(const std::string& word, std::int64_t absent) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return absent;
  const std::string value = word.substr(equals + 1);
  check(!value.empty() && value.size() < 5 && value.find_first_not_of("0123456789") == std::string::npos,
        "--augment: ", quote(word), " must name pixels, as in ", word.substr(0, equals), "=", absent);
  return std::stoll(value);
}

/// A run that is resumed on the CPU leaves behind what it was told of a GPU.
OptionValues without_gpu_settings(const Options& given, OptionValues resumed) {
  const auto device = given.given.find("device");
  if (device != given.given.end() && device->second == "cpu")
    for (const char* name : {"tf32", "eager", "workspace-limit"}) resumed.erase(name);
  return resumed;
}

/// The words by their names, with their values as they stand there.
std::map<std::string, std::string> augment_words(const std::string& text) {
  static const std::vector<std::string> known = {"none", "pad-crop", "flip", "cutout", "random-crop"};
  check(!text.empty() && text.back() != ',', "--augment: ", quote(text), " has no word at its end");
  std::map<std::string, std::string> words;
  for (const std::string& word : split(text, ',')) {
    std::string name = word.substr(0, word.find('='));
    std::replace(name.begin(), name.end(), '_', '-');
    check(std::find(known.begin(), known.end(), name) != known.end(), "--augment: unknown word ", quote(word),
          did_you_mean(name, known));
    check(name == "pad-crop" || name == "cutout" || word.find('=') == std::string::npos, "--augment: ", quote(word),
          ": ", name, " takes no value");
    check(words.emplace(name, word).second, "--augment: ", name, " stands twice");
  }
  check(words.count("none") == 0 || words.size() == 1, "--augment: 'none' stands alone, not in ", quote(text));
  return words;
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
  const std::map<std::string, std::string> words = augment_words(text);
  const auto pixels = [&words](const char* name, std::int64_t absent) {
    const auto word = words.find(name);
    return word == words.end() ? 0 : pixels_of(word->second, absent);
  };
  return {.pad_crop = pixels("pad-crop", 4),
          .flip = words.count("flip") != 0,
          .cutout = pixels("cutout", 8),
          .random_crop = words.count("random-crop") != 0};
}

}  // namespace lethe
