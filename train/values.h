// Values on the command line: checks whose messages say what was given and what was expected.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace lethe {

struct ValueCheck {
  std::function<std::string(const std::string& text)> complaint = {};  // "" if the text is good
  std::vector<std::string> words = {};                                 // values that can be listed
};

/// A whole number from `least` to `most`.
ValueCheck whole_number(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());
/// A number that is finite in f32: at least 0, or above 0.
ValueCheck number_from_zero();
ValueCheck positive_number();
/// From 0 to below 1.
ValueCheck fraction();
/// Above 0, at most 1.
ValueCheck portion();
/// One of `words`.
ValueCheck one_of(std::vector<std::string> words);
/// Anything; `words` are what one may well take.
ValueCheck such_as(std::vector<std::string> words);
/// "NAME=VALUE".
ValueCheck setting();

}  // namespace lethe
