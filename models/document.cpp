#include "models/document.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "framework/builder/settings.h"
#include "framework/did_you_mean.h"
#include "framework/language/op_def.h"
#include "models/format.h"
#include "models/settings.h"

namespace lethe {
namespace {

std::vector<std::string> keys_of(const Bindings& values) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values) keys.push_back(key);
  return keys;
}

/// A var's value: a number, true or false; or an expression of the vars before it.
Attr var_value(const JsonNode& node, const Bindings& before) {
  const Attr value = value_of(node, before);
  if (std::holds_alternative<std::string>(value.base()))
    node.fail("found ", node.shown(), ", expected a number, true or false, or an \"=expression\" of vars before it");
  return value;
}

/// As it would be written after the option.
std::string as_option(const std::string& name, const Attr& value) {
  if (const auto* text = std::get_if<std::string>(&value.base())) return *text;
  const auto key = std::ranges::find(train_keys(), name, &KeyFact::name);
  const std::optional<std::int64_t> whole = whole_number(value);
  return text_of(whole && key->type == "int" ? Attr(*whole) : value);
}

}  // namespace

NetworkDocument::NetworkDocument(const NetworkFile& file, const Sets& overrides)
    : source_(file.path, file.text), variant_(file.variant) {
  const JsonNode root = document();
  if (root.has("version") && root.at("version").json() != 1)
    root.at("version").fail("version ", root.at("version").shown(), " is unknown, expected version 1");
  check_object(root, "a network file", document_keys());
  std::vector<std::pair<std::string, JsonNode>> vars;
  if (root.has("vars")) vars = root.at("vars").members();
  for (const auto& [name, node] : vars) {
    check_identifier(node, name);
    vars_.emplace(name, Attr(0));  // until set_vars
  }
  if (root.has("train")) check_object(root.at("train"), "'train'", train_keys());
  std::vector<std::string> variants;
  if (root.has("variants"))
    for (const auto& [name, values] : root.at("variants").members()) {
      read_variant(name, values);
      variants.push_back(name);
    }
  check(variant_.empty() || std::ranges::count(variants, variant_) > 0, source_.file(), ": no variant ",
        quote(variant_), did_you_mean(variant_, variants),
        "; variants: ", variants.empty() ? "none" : joined(variants));
  set_vars(vars, given_by(overrides));
}

void NetworkDocument::read_variant(const std::string& name, const JsonNode& values) {
  values.check_keys("variant " + quote(name) + ", which sets vars", keys_of(vars_));
  for (const auto& [key, node] : values.members()) {
    const Attr value = var_value(node, {});
    if (name == variant_) of_variant_.insert_or_assign(key, value);
  }
}

Bindings NetworkDocument::given_by(const Sets& overrides) const {
  Bindings given = of_variant_;
  for (const auto& [name, text] : overrides) {
    const std::vector<std::string> known = keys_of(vars_);
    check(vars_.count(name) != 0, source_.file(), ": `set` ", shortened(name), '=', shortened(text), ": no var ",
          quote(name), did_you_mean(name, known), "; vars: ", known.empty() ? "none" : joined(known));
    const Attr value = parse_value(text);
    check(!std::holds_alternative<std::string>(value.base()), source_.file(), ": `set` ", shortened(name), '=',
          shortened(text), ": expected a number, true or false");
    given.insert_or_assign(name, value);
  }
  return given;
}

void NetworkDocument::set_vars(const std::vector<std::pair<std::string, JsonNode>>& vars, const Bindings& given) {
  Bindings before;
  for (const auto& [name, node] : vars) {
    const auto found = given.find(name);
    before.insert_or_assign(name, found != given.end() ? found->second : var_value(node, before));
  }
  vars_ = std::move(before);
}

std::string NetworkDocument::name() const {
  if (!variant_.empty()) return variant_;
  if (document().has("name")) return document().at("name").text();
  return std::filesystem::path(source_.file()).stem().string();
}

TrainDefaults NetworkDocument::train() const {
  TrainDefaults settings;
  if (!document().has("train")) return settings;
  for (const auto& [name, node] : document().at("train").members()) {
    settings[name] = {as_option(name, value_of(node, vars_)), node.where()};
  }
  return settings;
}

void check_identifier(const JsonNode& member, const std::string& name) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ||
      !std::all_of(name.begin(), name.end(), allowed))
    member.fail_at_key("name ", quote(name), " may have letters, digits and '_' only, and no digit first");
  if (name.size() > kLongestName)
    member.fail_at_key("name ", quote(name), " has ", name.size(), " characters, expected at most ", kLongestName);
}

}  // namespace lethe
