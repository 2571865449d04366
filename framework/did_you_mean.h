// Suggestions for words that nobody knows.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace lethe {

/// The nearest of `known` to `word` if it is near enough, else "".
std::string nearest(std::string_view word, const std::vector<std::string>& known);
/// "; did you mean 'conv'?" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace lethe
