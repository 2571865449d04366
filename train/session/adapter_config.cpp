#include "train/session/adapter_config.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "models/json_source.h"

namespace lethe {
namespace {

/// Keys that change no number here: how adapters were made, where from, and how others run them.
const std::set<std::string> kPassedOver = {"auto_mapping",   "corda_config",      "eva_config",     "inference_mode",
                                           "layers_pattern", "loftq_config",      "lora_ga_config", "megatron_core",
                                           "peft_version",   "qalora_group_size", "revision",       "runtime_config"};
/// Ways of beginning that leave the base as it is; others put what they take out of it into the adapter.
const std::set<std::string> kBeginnings = {"gaussian", "eva", "orthogonal"};
/// Heads that PEFT names for every classifier, of which a network has one.
const std::set<std::string> kAnyHead = {"classifier", "score"};
constexpr const char* kAllLinear = "all-linear";

bool says_nothing(const Json& value) {
  return value.is_null() || value == false || value == "" || (value.is_structured() && value.empty());
}

double number_in(const JsonNode& node) { return node.json().is_number() ? node.json().get<double>() : std::nan(""); }

double alpha_in(const JsonNode& node) {
  const double alpha = number_in(node);
  if (!(alpha > 0 && std::isfinite(alpha))) node.fail("found ", node.shown(), ", expected a number above 0");
  return alpha;
}

std::int64_t rank_in(const JsonNode& node) {
  constexpr std::int64_t kMost = 1 << 20;
  if (!node.json().is_number_integer() || node.json() < 1 || node.json() > kMost)
    node.fail("found ", node.shown(), ", expected a rank, 1 to ", kMost);
  return node.json().get<std::int64_t>();
}

bool flag_in(const JsonNode& node) {
  if (!node.json().is_boolean()) node.fail("found ", node.shown(), ", expected true or false");
  return node.json().get<bool>();
}

/// A module's name, or a part of one.
std::string name_in(const JsonNode& node, const std::string& name) {
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-'; };
  if (name.empty() || !std::ranges::all_of(name, is_of_name))
    node.fail("found ", quote(name), ", expected a module's name or the end of one; no other patterns are known");
  return name;
}

std::vector<std::string> names_in(const JsonNode& node) {
  std::vector<std::string> names;
  for (const JsonNode& item : node.items()) names.push_back(name_in(item, item.text()));
  return names;
}

/// A key of rank_pattern: a regular expression that means itself, but for ^ before a whole name and \ before a dot.
std::string pattern_in(const JsonNode& node, const std::string& key) {
  std::string plain = key.starts_with('^') ? key.substr(1) : key;
  for (std::size_t at = plain.find("\\."); at != std::string::npos; at = plain.find("\\.", at)) plain.erase(at, 1);
  name_in(node, plain);
  return key.starts_with('^') ? "^" + plain : plain;
}

class AdapterReader {
 public:
  explicit AdapterReader(const JsonNode& root) : root_(root) {}

  AdapterConfig read() {
    const JsonNode type = root_.at("peft_type");
    if (type.json() != "LORA") type.fail("found ", type.shown(), ", expected \"LORA\"; no other adapters are known");
    read_key("r", [&](const JsonNode& node) { config_.rank = rank_in(node); });
    read_key("lora_alpha", [&](const JsonNode& node) { config_.alpha = alpha_in(node); });
    read_key("lora_dropout", [&](const JsonNode& node) { config_.dropout = dropout_in(node); });
    read_key("use_rslora", [&](const JsonNode& node) { config_.rslora = flag_in(node); });
    read_key("fan_in_fan_out", [&](const JsonNode& node) { config_.fan_in_fan_out = flag_in(node); });
    read_key("base_model_name_or_path", [&](const JsonNode& node) { config_.base = node.text(); });
    read_key("task_type", [&](const JsonNode& node) { config_.task = node.text(); });
    read_key("modules_to_save", [&](const JsonNode& node) { config_.saved = names_in(node); });
    read_key("target_modules", [&](const JsonNode& node) { config_.targets = targets_in(node); });
    if (config_.targets.empty()) root_.fail("says no 'target_modules', which are what adapters stand beside");
    read_key("rank_pattern", [&](const JsonNode& node) {
      for (const auto& [key, rank] : node.members()) config_.ranks.emplace_back(pattern_in(rank, key), rank_in(rank));
    });
    read_key("alpha_pattern", [&](const JsonNode& node) {
      for (const auto& [key, alpha] : node.members())
        config_.alphas.emplace_back(pattern_in(alpha, key), alpha_in(alpha));
    });
    read_key("bias", [&](const JsonNode& node) {
      if (node.json() != "none")
        node.fail("found ", node.shown(), ", expected \"none\": biases that train have no place");
    });
    read_key("init_lora_weights", [&](const JsonNode& node) {
      if (!node.json().is_boolean() && !(node.json().is_string() && kBeginnings.contains(node.text())))
        node.fail("found ", node.shown(),
                  ", which changes the base, too; in Python, save_pretrained() with "
                  "path_initial_model_for_weight_conversion makes a plain adapter of it");
    });
    refuse_others();
    return config_;
  }

 private:
  template <class Read>
  void read_key(const char* key, const Read& read) {
    known_.push_back(key);
    if (root_.has(key) && !root_.at(key).json().is_null()) read(root_.at(key));
  }

  static double dropout_in(const JsonNode& node) {
    const double dropout = number_in(node);
    if (!(dropout >= 0 && dropout < 1)) node.fail("found ", node.shown(), ", expected a share below 1");
    return dropout;
  }

  static std::vector<std::string> targets_in(const JsonNode& node) {
    if (node.json().is_array()) return names_in(node);
    if (node.text() == kAllLinear) return {kAllLinear};
    node.fail("found ", node.shown(), ", a regular expression; expected a list of modules' names or \"", kAllLinear,
              "\"");
  }

  void refuse_others() const {
    for (const auto& [key, value] : root_.members()) {
      const bool is_known = key == "peft_type" || std::ranges::find(known_, key) != known_.end();
      if (is_known || kPassedOver.contains(key) || says_nothing(value.json())) continue;
      value.fail(quote(key), " is ", value.shown(), ", which is not known here, and the adapter would be another",
                 did_you_mean(key, known_));
    }
  }

  JsonNode root_;
  std::vector<std::string> known_ = {};
  AdapterConfig config_ = {};
};

/// A number without a point if it has none.
Json number_of(double value) {
  constexpr double kWhole = 1e15;
  if (value == std::floor(value) && std::fabs(value) < kWhole) return static_cast<std::int64_t>(value);
  return value;
}

/// Whether a name is the pattern, or ends with it after a dot.
bool ends_with_name(const std::string& name, const std::string& pattern) {
  return name == pattern || name.ends_with("." + pattern);
}

/// What the first pattern that means one of the names says; none: none does.
template <class Value>
std::optional<Value> said_of(const std::vector<std::pair<std::string, Value>>& patterns,
                             const std::vector<std::string>& names) {
  for (const auto& [pattern, value] : patterns)
    if (std::ranges::any_of(names, [&](const std::string& name) {
          return pattern.starts_with('^') ? name == pattern.substr(1) : ends_with_name(name, pattern);
        }))
      return value;
  return std::nullopt;
}

std::vector<std::string> names_of(const Network& network, const Adapter& adapter) {
  std::vector<std::string> names;
  for (const WeightNames& library : network.weight_names)
    if (const std::optional<std::string> module = module_in(network, library, adapter))
      names.insert(names.end(), {*module, prefix_turned(*module, library.prefix)});
  return names;
}

bool is_transposed(const Network& network, const Adapter& adapter) {
  for (const WeightNames& library : network.weight_names)
    for (const ForeignWeight& weight : library.weights)
      if (weight.param == adapter.weight && weight.transposed) return true;
  return false;
}

}  // namespace

AdapterConfig read_adapter_config(const std::string& file) {
  try {
    const JsonSource source(file);
    return AdapterReader(source.root()).read();
  } catch (const Error& error) {
    throw Error(error.what(), Exit::Data);
  }
}

std::string text_of(const AdapterConfig& config) {
  Json json = {{"peft_type", "LORA"}};
  json["task_type"] = config.task.empty() ? Json() : Json(config.task);
  json["base_model_name_or_path"] = config.base.empty() ? Json() : Json(config.base);
  json["r"] = config.rank;
  json["lora_alpha"] = number_of(config.alpha);
  json["lora_dropout"] = config.dropout;
  json["use_rslora"] = config.rslora;
  json["fan_in_fan_out"] = config.fan_in_fan_out;
  json["target_modules"] = config.targets;
  json["rank_pattern"] = json["alpha_pattern"] = Json::object();
  for (const auto& [key, rank] : config.ranks) json["rank_pattern"][key] = rank;
  for (const auto& [key, alpha] : config.alphas) json["alpha_pattern"][key] = number_of(alpha);
  json["modules_to_save"] = config.saved.empty() ? Json() : Json(config.saved);
  json["bias"] = "none";
  json["init_lora_weights"] = json["inference_mode"] = true;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::set<std::string> saved_weights(const AdapterConfig& config, const Network& network, const std::string& file) {
  std::set<std::string> weights;
  std::vector<std::string> missing, known;
  for (const std::string& saved : config.saved) {
    const std::size_t before = weights.size();
    for (const WeightNames& library : network.weight_names)
      for (const ForeignWeight& weight : library.weights)
        for (const std::string& tensor : weight.tensors) {
          known.push_back(module_of_tensor(tensor));
          if (known.back().ends_with(saved) || prefix_turned(known.back(), library.prefix).ends_with(saved))
            weights.insert(weight.param);
        }
    if (weights.size() == before) missing.push_back(saved);
  }
  const bool found_one = !weights.empty();
  for (const std::string& name : missing)
    check_as(Exit::Data, found_one && kAnyHead.contains(name), file, ": 'modules_to_save' has ", quote(name), ", and ",
             network.name, " no such module", did_you_mean(name, known));
  return weights;
}

LoraSetting lora_of(const AdapterConfig& config, const Network& network, const std::string& file) {
  check_as(Exit::Data, !network.weight_names.empty(), file, ": ", network.name,
           " knows no library's names, by which an adapter says what it stands beside");
  LoraSetting setting{.rank = config.rank, .alpha = config.alpha, .dropout = config.dropout, .rslora = config.rslora};
  for (const std::string& target : config.targets) setting.targets.push_back({.pattern = target});
  for (const std::string& weight : saved_weights(config, network, file))
    setting.train.append(setting.train.empty() ? "" : ",").append(weight);
  std::vector<Adapter> adapters;
  try {
    adapters = adapters_of(network, setting);
  } catch (const Error& error) {
    throw Error(message(file, ": ", error.what()), Exit::Data);
  }
  check_as(Exit::Data,
           !config.fan_in_fan_out ||
               std::ranges::any_of(adapters, [&](const Adapter& a) { return is_transposed(network, a); }),
           file, ": 'fan_in_fan_out' is true, and no weight of ", network.name, " stands transposed in files");
  for (const Adapter& adapter : adapters) {
    const std::vector<std::string> names = names_of(network, adapter);
    const std::optional<std::int64_t> rank = said_of(config.ranks, names);
    const std::optional<double> alpha = said_of(config.alphas, names);
    if (rank || alpha) setting.targets.push_back({.pattern = adapter.module, .rank = rank, .alpha = alpha});
  }
  return setting;
}

std::optional<std::string> module_in(const Network& network, const WeightNames& names, const Adapter& adapter) {
  const auto is_its = [&](const ParamInfo& info) { return network.program.vars[info.var].name == adapter.weight; };
  const Shape& shape = network.program.vars[std::ranges::find_if(network.params, is_its)->var].shape;
  for (const ForeignWeight& weight : names.weights) {
    if (weight.param != adapter.weight) continue;
    if (weight.tensors.size() == 1 && adapter.rows == shape[0]) return module_of_tensor(weight.tensors.front());
    std::int64_t first = 0;
    for (std::size_t i = 0; i < weight.rows.size(); first += weight.rows[i++])
      if (first == adapter.first && weight.rows[i] == adapter.rows) return module_of_tensor(weight.tensors[i]);
  }
  return std::nullopt;
}

std::string module_of_tensor(const std::string& tensor) { return tensor.substr(0, tensor.rfind('.')); }

}  // namespace lethe
