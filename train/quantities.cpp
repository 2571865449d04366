#include "train/quantities.h"

#include <charconv>
#include <map>

#include "framework/error.h"

namespace lethe {

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
        quote(text), " is no size; expected bytes, or a number with KiB, MiB, GiB, kB, MB or GB behind it");
  return static_cast<std::int64_t>(value * unit->second);
}

double parse_share(const std::string& text, const std::string& what) {
  double value = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(stop, text.data() + text.size());
  check(error == std::errc() && (unit.empty() || unit == "%") && value >= 0 && value <= 1e6, what, ": ", quote(text),
        " is no share of a step; expected one such as 5% or 0.05");
  return unit.empty() ? value : value / 100;
}

}  // namespace lethe
