// Layer records by name, and settings checked against them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/error.h"
#include "framework/language/layer.h"

namespace lethe {

/// A setting that is wrong; `key` says which, so that a reader of files can point at it.
struct SettingError : Error {
  SettingError(std::string key, const std::string& text) : Error(text), key(std::move(key)) {}
  std::string key;
};

/// The record that `type` names (layer name, alias or op type); fails with a suggestion.
const Layer& layer_named(const std::string& type);
std::vector<const Layer*> all_layers();  // sorted by name
/// All that names it: its name first, the type of its op, aliases.
std::vector<std::string> names_of(const Layer& layer);
/// `settings` checked against the record, defaults filled in. Throws SettingError.
Attrs checked_settings(const Layer& layer, const Attrs& settings);

/// The whole number that a value is, be it written 3 or 3.0; none if it is none.
std::optional<std::int64_t> whole_number(const Attr& value);
/// What a key takes, in words: "a whole number", "one of f32, bf16".
std::string values_of(const Key& key);
/// Its bounds: "at least 1", "0 to 1", "at least 0 and below 1"; "" for none.
std::string range_of(const Key& key);

}  // namespace lethe
