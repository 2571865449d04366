#include "framework/builder/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "framework/did_you_mean.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

bool is_int(const Attr& value) { return std::holds_alternative<std::int64_t>(value.base()); }
bool is_number(const Attr& value) {
  const auto* real = std::get_if<double>(&value.base());
  return is_int(value) || (real && std::isfinite(*real));
}
bool is_text(const Attr& value) { return std::holds_alternative<std::string>(value.base()); }
bool is_list(const Attr& value) { return std::holds_alternative<Ints>(value.base()); }
bool is_pair(const Attr& value) {
  return is_int(value) || (is_list(value) && std::get<Ints>(value.base()).size() == 2);
}
bool is_text_among(const Attr& value, const std::vector<std::string>& known) {
  return is_text(value) && std::find(known.begin(), known.end(), std::get<std::string>(value.base())) != known.end();
}

bool is_init(const Attr& value) {
  if (is_text_among(value, {"he", "xavier", "lecun", "zeros", "ones"})) return true;
  if (!is_text(value)) return false;
  const std::string& text = std::get<std::string>(value.base());
  for (const std::string prefix : {"normal:", "uniform:"}) {
    if (text.rfind(prefix, 0) != 0) continue;
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + prefix.size(), end, value);
    return error == std::errc() && stop == end && std::isfinite(value) && value >= 0;
  }
  return false;
}

/// Whether the value is of the key's type; bounds apart.
bool accepts(const Key& key, const Attr& value) {
  switch (key.type) {
    case KeyType::Int:
    case KeyType::Bool:
      return is_int(value);
    case KeyType::Number:
      return is_number(value);
    case KeyType::Text:
      return is_text(value);
    case KeyType::IntPair:
      return is_pair(value);
    case KeyType::IntList:
      return is_list(value);
    case KeyType::Pad:
      return is_pair(value) || is_text_among(value, {"same", "valid"});
    case KeyType::Choice:
      return is_text_among(value, key.choices);
    case KeyType::Axis:
      return is_int(value) || is_text_among(value, {"channels", "height", "width"});
    case KeyType::Init:
      return is_init(value);
  }
  return false;
}

/// Whether every number in the value is within the key's bounds.
bool in_range(const Key& key, const Attr& value) {
  const auto inside = [&](double number) {
    return !(key.min && number < *key.min) && !(key.max && number > *key.max) && !(key.below && number >= *key.below);
  };
  if (const auto* whole = std::get_if<std::int64_t>(&value.base())) return inside(static_cast<double>(*whole));
  if (const auto* real = std::get_if<double>(&value.base())) return inside(*real);
  const auto* list = std::get_if<Ints>(&value.base());
  return !list ||
         std::all_of(list->begin(), list->end(), [&](std::int64_t item) { return inside(static_cast<double>(item)); });
}

bool may_be_whole(const Key& key) {
  using enum KeyType;
  return key.type == Int || key.type == IntPair || key.type == Pad || key.type == Axis;
}

/// The settings, with 3 for 3.0 where a whole number may stand.
Attrs with_whole_numbers(const Layer& layer, Attrs settings) {
  for (auto& [name, value] : Attrs(settings))
    for (const Key& key : layer.keys)
      if (const auto whole = whole_number(value); whole && key.name == name && may_be_whole(key))
        settings.set(name, *whole);
  return settings;
}

}  // namespace

std::optional<std::int64_t> whole_number(const Attr& value) {
  constexpr double kExact = 9007199254740992;  // 2^53: up to it a double holds each whole number
  if (const auto* whole = std::get_if<std::int64_t>(&value.base())) return *whole;
  const auto* real = std::get_if<double>(&value.base());
  if (!real || *real != std::trunc(*real) || std::fabs(*real) > kExact) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::string values_of(const Key& key) {
  switch (key.type) {
    case KeyType::Int:
      return "a whole number";
    case KeyType::Number:
      return "a number";
    case KeyType::Bool:
      return "true or false";
    case KeyType::Text:
      return "text";
    case KeyType::IntPair:
      return "a whole number or [height, width]";
    case KeyType::IntList:
      return "a list of whole numbers";
    case KeyType::Pad:
      return "\"same\", \"valid\", a whole number or [height, width]";
    case KeyType::Choice:
      return "one of " + joined(key.choices);
    case KeyType::Axis:
      return "channels, height, width or a whole number";
    case KeyType::Init:
      return "he, xavier, lecun, zeros, ones, normal:DEVIATION or uniform:WIDTH";
  }
  return "";
}

std::string range_of(const Key& key) {
  std::ostringstream text;
  text.precision(17);
  if (key.min) text << (key.max ? "" : "at least ") << *key.min;
  if (key.max) text << (key.min ? " to " : "at most ") << *key.max;
  if (key.below) text << (key.min ? " and below " : "below ") << *key.below;
  return text.str();
}

std::vector<const Layer*> all_layers() {
  std::vector<const Layer*> all;
  for (const OpDef* op : all_ops())
    if (!op->layer.name.empty()) all.push_back(&op->layer);
  for (const Layer& layer : layers_without_op()) all.push_back(&layer);
  std::sort(all.begin(), all.end(), [](const Layer* a, const Layer* b) { return a->name < b->name; });
  return all;
}

const Layer& layer_named(const std::string& type) {
  std::vector<std::string> known;
  for (const Layer* layer : all_layers()) {
    if (layer->name == type || std::find(layer->aliases.begin(), layer->aliases.end(), type) != layer->aliases.end())
      return *layer;
    known.push_back(layer->name);
  }
  const OpDef* op = find_op(type);
  if (op && !op->layer.name.empty()) return op->layer;
  throw SettingError("op",
                     message("unknown layer ", quote(type), did_you_mean(type, known), "; known: ", joined(known)));
}

std::vector<std::string> names_of(const Layer& layer) {
  std::vector<std::string> names = {layer.name};
  for (const OpDef* op : all_ops())
    if (op->layer.name == layer.name && op->type != layer.name) names.push_back(op->type);
  names.insert(names.end(), layer.aliases.begin(), layer.aliases.end());
  return names;
}

Attrs checked_settings(const Layer& layer, const Attrs& given) {
  const Attrs settings = with_whole_numbers(layer, given);
  std::vector<std::string> known;
  for (const Key& key : layer.keys) known.push_back(key.name);
  for (const auto& [name, value] : settings)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw SettingError(name, message("unknown key ", quote(name), " in '", layer.name, "'", key_meant(name, known),
                                       known.empty() ? "; it takes none" : "; keys: " + joined(known)));
  Attrs checked = settings;
  for (const Key& key : layer.keys) {
    if (!settings.has(key.name)) {
      if (key.absent)
        checked.set(key.name, *key.absent);
      else if (!key.optional)
        throw SettingError(key.name, message("'", layer.name, "' needs '", key.name, "'"));
    }
  }
  for (const Key& key : layer.keys)
    for (const auto& [name, value] : settings) {
      const bool good = name != key.name || (accepts(key, value) && in_range(key, value));
      if (!good)
        throw SettingError(name, message("'", name, "' of '", layer.name, "' is ", shortened(text_of(value)),
                                         ", expected ", accepts(key, value) ? range_of(key) : values_of(key)));
    }
  return checked;
}

}  // namespace lethe
