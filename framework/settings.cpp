// Layer records by name, and settings checked against them.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "framework/builder.h"
#include "framework/op_def.h"

namespace lethe {
namespace {

bool is_int(const Attr& value) { return std::holds_alternative<std::int64_t>(value.base()); }
bool is_number(const Attr& value) { return is_int(value) || std::holds_alternative<double>(value.base()); }
bool is_finite(const Attr& value) { return is_int(value) || std::isfinite(std::get<double>(value.base())); }
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

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

/// What the key takes, in words; "" if `value` is that.
std::string expected(const Key& key, const Attr& value) {
  switch (key.type) {
    case KeyType::Int:
      return is_int(value) ? "" : "a whole number";
    case KeyType::Number:
      return !is_number(value) ? "a number" : is_finite(value) ? "" : "a finite number";
    case KeyType::Bool:
      return is_int(value) ? "" : "true or false";
    case KeyType::Text:
      return is_text(value) ? "" : "text";
    case KeyType::IntPair:
      return is_pair(value) ? "" : "a whole number or [height, width]";
    case KeyType::IntList:
      return is_list(value) ? "" : "a list of whole numbers";
    case KeyType::Pad:
      return is_pair(value) || is_text_among(value, {"same", "valid"})
                 ? ""
                 : "\"same\", \"valid\", a whole number or [height, width]";
    case KeyType::Choice:
      return is_text_among(value, key.choices) ? "" : "one of " + listed(key.choices);
    case KeyType::Axis:
      return is_int(value) || is_text_among(value, {"channels", "height", "width"})
                 ? ""
                 : "channels, height, width or a whole number";
    case KeyType::Init:
      return is_init(value) ? "" : "he, xavier, lecun, zeros, ones, normal:DEVIATION or uniform:WIDTH";
  }
  return "";
}

/// The bounds of a key, in words; "" if every number in `value` keeps them.
std::string expected_range(const Key& key, const Attr& value) {
  const auto inside = [&](double number) {
    return !(key.min && number < *key.min) && !(key.max && number > *key.max) && !(key.below && number >= *key.below);
  };
  bool good = true;
  if (const auto* whole = std::get_if<std::int64_t>(&value.base())) good = inside(static_cast<double>(*whole));
  if (const auto* real = std::get_if<double>(&value.base())) good = inside(*real);
  if (const auto* list = std::get_if<Ints>(&value.base()))
    good =
        std::all_of(list->begin(), list->end(), [&](std::int64_t item) { return inside(static_cast<double>(item)); });
  return good ? "" : range_of(key);
}

}  // namespace

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
                     message("unknown layer '", type, "'", did_you_mean(type, known), "; known: ", listed(known)));
}

Attrs checked_settings(const Layer& layer, const Attrs& settings) {
  std::vector<std::string> known;
  for (const Key& key : layer.keys) known.push_back(key.name);
  for (const auto& [name, value] : settings)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw SettingError(name, message("unknown key '", name, "' in '", layer.name, "'", did_you_mean(name, known),
                                       known.empty() ? "; it takes none" : "; keys: " + listed(known)));
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
      if (name != key.name) continue;
      std::string wanted = expected(key, value);
      if (wanted.empty()) wanted = expected_range(key, value);
      if (!wanted.empty())
        throw SettingError(name,
                           message("'", name, "' of '", layer.name, "' is ", text_of(value), ", expected ", wanted));
    }
  return checked;
}

}  // namespace lethe
