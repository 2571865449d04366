#include "framework/builder/weight_names.h"

#include <algorithm>
#include <cctype>

#include "framework/error.h"

namespace lethe {
namespace {

/// The field that `pattern` begins with, without its braces; none if it begins with none.
std::optional<std::string> field_at(std::string_view pattern) {
  if (pattern.empty() || pattern[0] != '{') return std::nullopt;
  const std::size_t end = pattern.find('}');
  check(end != std::string_view::npos, quote(pattern), " opens a field and does not close it");
  return std::string(pattern.substr(1, end - 1));
}

std::size_t digits_at(std::string_view text) {
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

}  // namespace

std::optional<Fields> read_fields(std::string_view pattern, std::string_view text) {
  Fields fields;
  while (!pattern.empty()) {
    if (const std::optional<std::string> field = field_at(pattern)) {
      const std::string value(text.substr(0, digits_at(text)));
      if (value.empty() || fields.emplace(*field, value).first->second != value) return std::nullopt;
      pattern.remove_prefix(field->size() + 2);
      text.remove_prefix(value.size());
      continue;
    }
    if (text.empty() || pattern[0] != text[0]) return std::nullopt;
    pattern.remove_prefix(1);
    text.remove_prefix(1);
  }
  return text.empty() ? std::optional(fields) : std::nullopt;
}

std::string prefix_turned(const std::string& name, const std::string& prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : prefix + name;
}

std::string with_fields(std::string_view pattern, const Fields& fields) {
  std::string text;
  while (!pattern.empty()) {
    const std::optional<std::string> field = field_at(pattern);
    if (!field) {
      text.push_back(pattern[0]);
      pattern.remove_prefix(1);
      continue;
    }
    const auto value = fields.find(*field);
    check(value != fields.end(), "nothing says what {", *field, "} is");
    text.append(value->second);
    pattern.remove_prefix(field->size() + 2);
  }
  return text;
}

}  // namespace lethe
