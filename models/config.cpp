#include "models/config.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "framework/did_you_mean.h"
#include "framework/name_pattern.h"
#include "framework/text_input.h"
#include "models/config_families.h"
#include "models/document.h"
#include "models/settings.h"
#include "models/zoo.h"

namespace lethe {
namespace {

/// What stands at "rope_parameters.rope_theta"; none where a part of the path is missing.
std::optional<JsonNode> node_at(const JsonNode& config, const std::string& path) {
  const std::size_t dot = path.find('.');
  const std::string key = path.substr(0, dot);
  if (!config.json().is_object() || !config.has(key)) return std::nullopt;
  return dot == std::string::npos ? config.at(key) : node_at(config.at(key), path.substr(dot + 1));
}

/// The same, and none where null stands.
std::optional<JsonNode> value_at(const JsonNode& config, const std::string& path) {
  const std::optional<JsonNode> node = node_at(config, path);
  return node && node->json().is_null() ? std::nullopt : node;
}

/// What a config.json calls its kind of model.
JsonNode kind_in(const JsonNode& config) {
  for (const char* key : {"model_type", "architecture"})
    if (const std::optional<JsonNode> kind = value_at(config, key); kind && kind->json().is_string()) return *kind;
  config.fail("says no 'model_type', which is what kind of model it is of");
}

/// Whatever is wrong with a config.json is wrong with data.
template <class Body>
auto as_data(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const Error& error) {
    throw Error(error.what(), Exit::Data);
  }
}

/// The names of labels in {"0": "cat", "1": "dog"}; none where they are transformers' own, LABEL_0 and so on.
std::vector<std::string> classes_in(const Json& labels) {
  std::vector<std::string> names;
  bool are_named = false;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = labels.is_object() ? labels.find(std::to_string(i)) : labels.end();
    if (label == labels.end() || !label->is_string()) return {};
    names.push_back(label->get<std::string>());
    are_named |= names.back() != message("LABEL_", i);
  }
  return are_named ? names : std::vector<std::string>{};
}

/// True and false as 1 and 0, which they are in expressions.
Json plain(const Json& value) { return value.is_boolean() ? Json(value.get<bool>() ? 1 : 0) : value; }

/// Reads a config.json as one family's.
class ConfigReader {
 public:
  ConfigReader(const JsonNode& config, const ConfigFamily& family, const NetworkDocument& network, std::string file)
      : config_(config), family_(family), file_(std::move(file)), values_(network.vars()) {}

  ConfiguredNetwork read() {
    for (const auto& [var, value] : family_.sets) fill(var, value_of(value, values_), config_, "the kind of model");
    for (const auto& [path, entry] : family_.keys) take(path, entry);
    check_no_other(config_, "");
    for (const auto& [var, path] : missing_)
      if (!filled_.contains(var)) config_.fail("lacks ", quote(path), ", which ", file_, " needs for its var ", var);
    for (const std::string& name : filled_)
      if (const Attr& value = values_.at(name); !lets_.contains(name)) network_.sets[name] = text_of(value);
    return std::move(network_);
  }

 private:
  /// Fails at a key that stands nowhere in the family.
  void check_no_other(const JsonNode& node, const std::string& prefix) const {
    for (const auto& [key, value] : node.members()) {
      const std::string path = prefix + key;
      const auto is_this = [&](const auto& entry) { return entry.first == path; };
      const auto is_inside = [&](const auto& entry) { return entry.first.starts_with(path + "."); };
      const auto passes = [&](const std::string& pattern) { return matches(pattern, path); };
      if (value.json().is_null() || std::ranges::any_of(family_.keys, is_this)) continue;
      if (std::ranges::any_of(family_.keys, is_inside))
        check_no_other(value, path + ".");
      else if (std::ranges::none_of(family_.passed_over, passes))
        value.fail_at_key(quote(path), " is ", value.shown(), ", which ", file_, " does not honour",
                          did_you_mean(path, known()), "; it knows ", joined(known()));
    }
  }

  std::vector<std::string> known() const {
    std::vector<std::string> paths;
    for (const auto& [path, entry] : family_.keys) paths.push_back(path);
    return paths;
  }

  void take(const std::string& path, const JsonNode& entry) {
    std::optional<JsonNode> found = value_at(config_, path);
    const bool is_null = entry.has("null") && !found && node_at(config_, path);
    const char* const absent = is_null ? "null" : "default";
    const auto told = [&](const char* key) {
      return with_context(found.value_or(config_).where(), [&] { return value_of(entry.at(key), values_); });
    };
    if (entry.has("if") && told("if") == Attr(0)) return;
    if (found && entry.has("each") && found->json().is_array()) found = each_of(*found, path, told("each"));
    const JsonNode at = found.value_or(config_);
    if (!found && !entry.has(absent)) {
      if (entry.has("var")) missing_.emplace_back(entry.at("var").text(), path);
      return;
    }
    const Json value = found ? found->json() : json_of(told(absent));
    if (entry.has("is")) check_is(at, path, value, entry.at("is"));
    for (const char* key : {"var", "let"})
      if (entry.has(key)) {
        if (std::string_view(key) == "let") lets_.insert(entry.at(key).text());
        fill(entry.at(key).text(), number_in(at, path, value, entry), at, found || is_null ? path : "");
      }
    if (found && entry.has("size")) network_.classes = classes_in(found->json());
    if (entry.has("most"))
      bound(entry.at("most").text(), entry.has("var") ? entry.at("var").text() : "", number_in(at, path, value, entry),
            at, path);
    if (entry.has("check") && told("check") == Attr(0))
      at.fail(quote(path), " is ", value.dump(), "; ", file_, " needs ", entry.at("check").text().substr(1));
  }

  /// The item of a list of `count` items that are all the same.
  JsonNode each_of(const JsonNode& list, const std::string& path, const Attr& count) const {
    const std::vector<JsonNode> items = list.items();
    if (items.empty() || whole_number(count) != std::ssize(items))
      list.fail(quote(path), " has ", items.size(), " items, expected ", text_of(count));
    if (!std::ranges::all_of(items, [&](const JsonNode& item) { return item.json() == items[0].json(); }))
      list.fail(quote(path), " is not the same for all layers, which ", file_, " does not honour");
    return items[0];
  }

  void check_is(const JsonNode& at, const std::string& path, const Json& value, const JsonNode& allowed) const {
    Json list = Json::array();
    for (const JsonNode& item : allowed.items()) {
      const bool computed = item.json().is_string() && item.text().starts_with('=');
      list.push_back(computed ? json_of(value_of(item, values_)) : item.json());
    }
    const auto is_allowed = [&](const Json& one) { return std::ranges::count(list, plain(one), plain) > 0; };
    if (is_allowed(value)) return;
    std::vector<std::string> words;
    for (const Json& item : list) words.push_back(item.dump());
    at.fail(quote(path), " is ", shortened(value.dump(), 40), at.json() == value ? "" : " where nothing is said",
            ", which ", file_, " does not honour; it honours ", words.empty() ? "none" : joined(words));
  }

  /// What the entry makes of a value: its size, what a text stands for, or the number itself.
  Attr number_in(const JsonNode& at, const std::string& path, const Json& value, const JsonNode& entry) const {
    const bool is_said = at.json() == value;
    const auto refuse = [&](const auto&... expected) {
      at.fail(quote(path), " is ", shortened(value.dump(), 40), ", expected ", expected...);
    };
    if (is_said && entry.has("size")) {
      if (!value.is_structured() || value.empty()) refuse("a name for each");
      return Attr(std::ssize(value));
    }
    if (entry.has("values") && (is_said || !value.is_number())) {
      const JsonNode values = entry.at("values");
      if (value.is_string() && values.has(value.get<std::string>()))
        return value_of(values.at(value.get<std::string>()), {});
      std::vector<std::string> words;
      for (const auto& [word, number] : values.members()) words.push_back(word);
      at.fail(quote(path), " is ", shortened(value.dump(), 40), ", which ", file_, " does not honour; it honours ",
              joined(words));
    }
    if (entry.has("default") && entry.at("default").json().is_boolean()) {
      if (plain(value) != 0 && plain(value) != 1) refuse("true or false");
      return Attr(plain(value) == 1);
    }
    if (!value.is_number()) refuse("a number");
    const Attr number = is_said ? value_of(at, {}) : parse_value(value.dump());
    if (!is_said || !entry.has("least")) return number;
    const std::int64_t least = whole_of(entry.at("least"), {});
    const std::optional<std::int64_t> whole = whole_number(number);
    if (!whole || *whole < least) refuse("a whole number from ", least, " on");
    return Attr(*whole);
  }

  /// `path`: of the key that says so; "" for a default, which is for what nothing has said.
  void fill(const std::string& name, const Attr& value, const JsonNode& at, const std::string& path) {
    const bool is_new = filled_.insert(name).second;
    if (path.empty() && !is_new) return;
    if (!path.empty() && !said_.insert(name).second && json_of(values_.at(name)) != json_of(value))
      at.fail(quote(path), " says that ", name, " is ", text_of(value), ", another key that it is ",
              text_of(values_.at(name)));
    values_.insert_or_assign(name, value);
  }

  /// `table`: the var that the key fills, too; "" if none.
  void bound(const std::string& var, const std::string& table, const Attr& value, const JsonNode& at,
             const std::string& path) {
    const std::optional<std::int64_t> most = whole_number(value), now = whole_number(values_.at(var));
    if (!most || *most < 1) at.fail(quote(path), " is ", text_of(value), ", expected a whole number from 1 on");
    network_.bounds.push_back({.var = var, .key = path, .most = *most, .table = table});
    if (now && *now > *most) {
      filled_.insert(var);
      values_.insert_or_assign(var, Attr(*most));
    }
  }

  JsonNode config_;
  const ConfigFamily& family_;
  std::string file_;  // of the network, for messages
  Bindings values_;
  std::set<std::string> filled_ = {}, said_ = {}, lets_ = {};      // said: by a key that is there
  std::vector<std::pair<std::string, std::string>> missing_ = {};  // vars, and the keys that would say them
  ConfiguredNetwork network_ = {};
};

ConfiguredNetwork read_source(const JsonSource& source) {
  const JsonNode kind = kind_in(source.root());
  const bool of_gguf = kind.text().starts_with(kGgufFamily);
  std::vector<std::string> known;
  for (const auto& [name, path] : zoo_files()) {
    const NetworkFile network{.name = {}, .text = read_text(path), .path = path};
    if (network.text.find("\"config\"") == std::string::npos) continue;
    const JsonSource of_network(path, network.text);
    for (const ConfigFamily& family : config_families(of_network.root())) {
      if (family.name.starts_with(kGgufFamily) == of_gguf) known.push_back(family.name);
      if (family.name != kind.text()) continue;
      NetworkFile variant = network;
      variant.variant = family.variant;
      const std::string short_name = std::filesystem::path(path).filename().string();
      ConfiguredNetwork found = ConfigReader(source.root(), family, {variant, {}}, short_name).read();
      found.model = family.variant.empty() ? name : family.variant;
      found.family = family.name;
      return found;
    }
  }
  std::ranges::sort(known);
  kind.fail("no network file is for models of type ", quote(kind.text()), did_you_mean(kind.text(), known),
            "; known: ", joined(known));
}

}  // namespace

ConfiguredNetwork read_config(const std::string& file) {
  return as_data([&] {
    const JsonSource source(file);
    return read_source(source);
  });
}

ConfiguredNetwork read_config(const std::string& file, const Json& config) {
  return as_data([&] {
    try {
      const JsonSource source(file, config.dump());
      return read_source(source);
    } catch (const SourceError& error) {
      fail(file, ": ", error.text);
    }
  });
}

}  // namespace lethe
