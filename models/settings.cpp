#include "models/settings.h"

#include <algorithm>

#include "framework/builder/settings.h"

namespace lethe {
namespace {

bool is_expression(const Json& json) {
  return json.is_string() && json.get_ref<const std::string&>().rfind('=', 0) == 0;
}

Attr flag_of(const JsonNode& node, const Bindings& values) {
  if (is_expression(node.json())) {
    const Attr value = value_of(node, values);
    return value == Attr(0) || value == Attr(1) ? value : Attr(text_of(value));
  }
  return node.json().is_boolean() ? Attr(node.json().get<bool>()) : Attr(node.shown());
}

Attr list_of(const JsonNode& node, const Bindings& values) {
  Ints list;
  for (const JsonNode& item : node.items()) list.push_back(whole_of(item, values));
  return list;
}

/// {"normal": 0.01} -> "normal:0.01", the form that settings in C++ have.
Attr init_of(const JsonNode& node, const Bindings& values) {
  if (!node.json().is_object()) return value_of(node, values);
  node.check_keys("an initialiser", {"normal", "uniform"});
  const auto members = node.members();
  if (members.size() != 1) node.fail("found ", node.shown(), ", expected {\"normal\": x} or {\"uniform\": x}");
  return Attr(message(members[0].first, ':', text_of(value_of(members[0].second, values))));
}

Attr setting_of(const JsonNode& node, const Key& key, const Bindings& values) {
  if (key.type == KeyType::Bool) return flag_of(node, values);
  if (key.type == KeyType::Init) return init_of(node, values);
  if (node.json().is_array()) return list_of(node, values);
  if (node.json().is_boolean()) return Attr(node.shown());
  return value_of(node, values);
}

}  // namespace

Attr value_of(const JsonNode& node, const Bindings& values) {
  const Json& json = node.json();
  if (is_expression(json)) {
    try {
      return evaluate(std::string_view(json.get_ref<const std::string&>()).substr(1), values);
    } catch (const Error& error) {
      node.fail(error.what());
    }
  }
  if (json.is_boolean()) return Attr(json.get<bool>());
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX) node.fail(node.shown(), " is too large");
  if (json.is_number_integer()) return Attr(json.get<std::int64_t>());
  if (json.is_number()) return Attr(json.get<double>());
  if (json.is_string()) return Attr(json.get<std::string>());
  node.fail("found ", node.shown(), ", expected a number, true, false or text");
}

Json json_of(const Attr& value) {
  return std::visit([](const auto& held) { return Json(held); }, value.base());
}

std::int64_t whole_of(const JsonNode& node, const Bindings& values) {
  const std::optional<std::int64_t> whole = whole_number(value_of(node, values));
  if (!whole || node.json().is_boolean()) node.fail("found ", node.shown(), ", expected a whole number");
  return *whole;
}

bool is_there(const JsonNode& entry, const Bindings& values) {
  if (!entry.has("if")) return true;
  const JsonNode condition = entry.at("if");
  if (!is_expression(condition.json())) condition.fail("found ", condition.shown(), ", expected an \"=expression\"");
  return whole_of(condition, values) != 0;
}

Attrs settings_of(const JsonNode& entry, const Layer& layer, const Bindings& values) {
  Attrs settings;
  for (const auto& member : entry.members()) {
    const std::string& name = member.first;
    const auto key = std::find_if(layer.keys.begin(), layer.keys.end(), [&](const Key& k) { return k.name == name; });
    if (key != layer.keys.end()) settings.set(name, setting_of(member.second, *key, values));
  }
  return settings;
}

}  // namespace lethe
