// Values on the command line: checks whose messages say what was given and what was expected.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace lethe {

/// A whole number from `least` to `most`.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());
/// A number that is finite in f32: at least 0, or above 0.
CLI::Validator number_from_zero();
CLI::Validator positive_number();
/// From 0 to below 1.
CLI::Validator fraction();
/// Above 0, at most 1.
CLI::Validator portion();
/// One of `words`.
CLI::Validator one_of(std::vector<std::string> words);
/// Anything; `words` are what one may well take.
CLI::Validator such_as(const std::vector<std::string>& words);
/// The words of `one_of` or `such_as`; none without them.
std::vector<std::string> words_of(const CLI::Option& option);
/// "NAME=VALUE".
CLI::Validator setting();

}  // namespace lethe
