#include "train/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

template <class T>
std::optional<T> parsed(const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::string not_a_number(const std::string& text) { return message(quote(text), " is not a number"); }

/// Kernels compute with it in f32, where it would be infinite or nothing.
std::string beyond_f32(double value, const std::string& text) {
  using Limits = std::numeric_limits<float>;
  if (value > Limits::max()) return message("must be at most ", Limits::max(), ", not ", shortened(text));
  return value > 0 && value < Limits::min() ? message("must be at least ", Limits::min(), ", not ", shortened(text))
                                            : "";
}

}  // namespace

ValueCheck whole_number(std::int64_t least, std::int64_t most) {
  return {[least, most](const std::string& text) {
    const auto value = parsed<std::int64_t>(text);
    if (!value) return message(quote(text), " is not a whole number");
    if (*value < least || (least >= 0 && text[0] == '-'))
      return message("must be at least ", least, ", not ", shortened(text));
    return *value > most ? message("must be at most ", most, ", not ", shortened(text)) : std::string();
  }};
}

ValueCheck number_from_zero() {
  return {[](const std::string& text) {
    const auto value = parsed<double>(text);
    if (!value || !std::isfinite(*value)) return not_a_number(text);
    if (std::signbit(*value)) return message("must not be negative, not ", shortened(text));
    return beyond_f32(*value, text);
  }};
}

ValueCheck positive_number() {
  return {[](const std::string& text) {
    const auto value = parsed<double>(text);
    if (!value || !std::isfinite(*value)) return not_a_number(text);
    if (*value <= 0) return message("must be above 0, not ", shortened(text));
    return beyond_f32(*value, text);
  }};
}

ValueCheck fraction() {
  return {[](const std::string& text) {
    const auto value = parsed<double>(text);
    if (!value) return not_a_number(text);
    return *value >= 0 && *value < 1 ? std::string() : message("must be from 0 to below 1, not ", shortened(text));
  }};
}

ValueCheck portion() {
  return {[](const std::string& text) {
    const auto value = parsed<double>(text);
    if (!value) return not_a_number(text);
    return *value > 0 && *value <= 1 ? std::string() : message("must be above 0, at most 1, not ", shortened(text));
  }};
}

ValueCheck one_of(std::vector<std::string> words) {
  const auto complaint = [words](const std::string& text) {
    if (std::ranges::count(words, text) > 0) return std::string();
    return message("unknown value ", quote(text), did_you_mean(text, words), "; known: ", joined(words));
  };
  return {complaint, std::move(words)};
}

ValueCheck such_as(std::vector<std::string> words) {
  return {[](const std::string&) { return std::string(); }, std::move(words)};
}

ValueCheck setting() {
  return {[](const std::string& text) {
    const std::size_t equals = text.find('=');
    const bool good = equals != std::string::npos && equals > 0 && equals + 1 < text.size();
    return good ? std::string() : message(quote(text), " is not NAME=VALUE");
  }};
}

}  // namespace lethe
