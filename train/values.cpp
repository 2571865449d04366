#include "train/values.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/op_def.h"

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

/// CLI11 wants "" for good values and else the complaint.
template <class Complaint>
CLI::Validator validator(Complaint complaint) {
  return CLI::Validator([complaint](std::string& text) { return complaint(text); }, "");
}

/// How a validator carries its words: "{a,b}".
std::string in_braces(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all.append(all.empty() ? "{" : ",").append(word);
  return all + "}";
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

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return validator([least, most](const std::string& text) {
    const auto value = parsed<std::int64_t>(text);
    if (!value) return message(quote(text), " is not a whole number");
    if (*value < least || (least >= 0 && text[0] == '-'))
      return message("must be at least ", least, ", not ", shortened(text));
    return *value > most ? message("must be at most ", most, ", not ", shortened(text)) : std::string();
  });
}

CLI::Validator number_from_zero() {
  return validator([](const std::string& text) {
    const auto value = parsed<double>(text);
    if (!value || !std::isfinite(*value)) return not_a_number(text);
    if (std::signbit(*value)) return message("must not be negative, not ", shortened(text));
    return beyond_f32(*value, text);
  });
}

CLI::Validator positive_number() {
  return validator([](const std::string& text) {
    const auto value = parsed<double>(text);
    if (!value || !std::isfinite(*value)) return not_a_number(text);
    if (*value <= 0) return message("must be above 0, not ", shortened(text));
    return beyond_f32(*value, text);
  });
}

CLI::Validator fraction() {
  return validator([](const std::string& text) {
    const auto value = parsed<double>(text);
    if (!value) return not_a_number(text);
    return *value >= 0 && *value < 1 ? std::string() : message("must be from 0 to below 1, not ", shortened(text));
  });
}

CLI::Validator portion() {
  return validator([](const std::string& text) {
    const auto value = parsed<double>(text);
    if (!value) return not_a_number(text);
    return *value > 0 && *value <= 1 ? std::string() : message("must be above 0, at most 1, not ", shortened(text));
  });
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string listed = in_braces(words);
  CLI::Validator made = validator([words = std::move(words)](const std::string& text) {
    std::string known;
    for (const std::string& word : words) {
      if (word == text) return std::string();
      known.append(known.empty() ? "" : ", ").append(word);
    }
    return message("unknown value ", quote(text), did_you_mean(text, words), "; known: ", known);
  });
  return made.description(listed);
}

CLI::Validator such_as(const std::vector<std::string>& words) {
  return validator([](const std::string&) { return std::string(); }).description(in_braces(words));
}

std::vector<std::string> words_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // CLI11 puts what validators are described as there
  const std::size_t open = type.find('{');
  std::vector<std::string> words;
  if (open == std::string::npos) return words;
  std::istringstream listed(type.substr(open + 1, type.find('}') - open - 1));
  for (std::string word; std::getline(listed, word, ',');) words.push_back(word);
  return words;
}

CLI::Validator setting() {
  return validator([](const std::string& text) {
    const std::size_t equals = text.find('=');
    const bool good = equals != std::string::npos && equals > 0 && equals + 1 < text.size();
    return good ? std::string() : message(quote(text), " is not NAME=VALUE");
  });
}

}  // namespace lethe
