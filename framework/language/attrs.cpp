#include "framework/language/attrs.h"

#include <charconv>

#include "framework/error.h"

namespace lethe {
namespace {

template <class T>
const T& value_of(const Attrs& attrs, const std::string& key, const char* kind) {
  for (const auto& [name, value] : attrs)
    if (name == key) {
      const T* found = std::get_if<T>(&value.base());
      check(found, "'", key, "' is ", shortened(text_of(value)), ", expected ", kind);
      return *found;
    }
  fail("'", key, "' is missing");
}

std::string text_of_double(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

template <class T, class ToText>
std::string text_of_list(const std::vector<T>& items, const ToText& text_of_item) {
  std::string list = "[";
  for (const T item : items) {
    if (list.size() > 1) list += ',';
    list += text_of_item(item);
  }
  return list + ']';
}

std::string quoted(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

}  // namespace

std::int64_t Attrs::integer(const std::string& key) const {
  return value_of<std::int64_t>(*this, key, "a whole number");
}

double Attrs::number(const std::string& key) const {
  const auto found = values_.find(key);
  if (found != values_.end())
    if (const auto* whole = std::get_if<std::int64_t>(&found->second.base())) return static_cast<double>(*whole);
  return value_of<double>(*this, key, "a number");
}

const std::string& Attrs::text(const std::string& key) const { return value_of<std::string>(*this, key, "text"); }
const Ints& Attrs::ints(const std::string& key) const { return value_of<Ints>(*this, key, "a list of whole numbers"); }
const Doubles& Attrs::doubles(const std::string& key) const {
  return value_of<Doubles>(*this, key, "a list of numbers");
}

std::string text_of(const Attr& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.base())) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value.base())) return text_of_double(*number);
  if (const auto* text = std::get_if<std::string>(&value.base())) return quoted(*text);
  if (const auto* numbers = std::get_if<Doubles>(&value.base())) return text_of_list(*numbers, text_of_double);
  return text_of_list(std::get<Ints>(value.base()), [](std::int64_t item) { return std::to_string(item); });
}

}  // namespace lethe
