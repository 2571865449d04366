#include "train/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
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

Interval parse_interval(const std::string& text, const std::string& what) {
  const bool epochs = !text.empty() && text.back() == 'e';
  std::string number = epochs ? text.substr(0, text.size() - 1) : text;
  const bool digits =
      !number.empty() && number.size() < 18 && number.find_first_not_of("0123456789") == std::string::npos;
  check(digits, what, ": ", quote(text), " is neither steps (500) nor epochs (2e)");
  return {std::stoll(number), epochs};
}

std::int64_t parse_bytes(const std::string& text, const std::string& what) {
  static const std::map<std::string, double> units = {
      {"", 1},     {"B", 1},    {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3},
      {"MB", 1e6}, {"GB", 1e9}, {"k", 1 << 10},   {"K", 1 << 10},   {"M", 1 << 20},   {"G", 1 << 30}};
  double value = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto unit = units.find(std::string(stop, text.data() + text.size()));
  constexpr double kMost = 9e18;
  check(error == std::errc() && unit != units.end() && value >= 0 && value * unit->second < kMost, what, ": ",
        quote(text), " is no size; expected bytes, or a number with KiB, MiB, GiB, kB, MB or GB after it");
  // 4.1 MB are 4,100,000 bytes, one more than the double of 4.1 gives: where a whole number is what is written, it
  // counts.
  const double bytes = value * unit->second, nearest = std::round(bytes);
  return static_cast<std::int64_t>(nearest / unit->second == value ? nearest : bytes);
}

Link parse_link(const std::string& text, const std::string& what) {
  static const std::map<std::string, double> rates = {{"b", 1}, {"kb", 1e3}, {"Mb", 1e6}, {"Gb", 1e9},
                                                      {"B", 8}, {"kB", 8e3}, {"MB", 8e6}, {"GB", 8e9}};
  static const std::map<std::string, double> times = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}};
  const auto value_of = [&](const std::string& part, const std::map<std::string, double>& units) {
    double value = -1;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    const auto unit = units.find(std::string(stop, part.data() + part.size()));
    return error == std::errc() && unit != units.end() ? value * unit->second : -1;
  };
  const std::size_t comma = text.find(',');
  const double bits = value_of(text.substr(0, comma), rates);
  const double latency = comma == std::string::npos ? -1 : value_of(text.substr(comma + 1), times);
  check(bits > 0 && bits < 1e18 && latency >= 0 && latency < 10, what, ": ", quote(text),
        " is no link; expected a rate and a latency such as 25Gb,10us or 3GB,500ns");
  return {.bytes = bits / 8, .latency = latency};
}

double parse_share(const std::string& text, const std::string& what) {
  double value = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(stop, text.data() + text.size());
  check(error == std::errc() && (unit.empty() || unit == "%") && value >= 0 && value <= 1e6, what, ": ", quote(text),
        " is no share of a step; expected one such as 5% or 0.05");
  return unit.empty() ? value : value / 100;
}

void read_device(const std::string& text, DeviceSetting& device) {
  const std::size_t comma = text.find(',');
  device.name = text.substr(0, comma);
  device.memory.reset();
  if (comma == std::string::npos) return;
  const std::string key = "memory=", more = text.substr(comma + 1);
  check(more.starts_with(key), "--device: ", quote(text), " has ", quote(more), " after the name; expected ", key,
        "SIZE");
  device.memory = parse_bytes(more.substr(key.size()), "--device");
  check(*device.memory > 0, "--device: nothing runs in ", more);
}

}  // namespace lethe
