// Suggestions for words that nobody knows.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace lethe {

/// The one of `known` that PyTorch, Keras or ONNX call `word`, in whichever case, or else the nearest to it if that is
/// near enough; else "". Words may begin with two dashes, as options do.
std::string nearest(std::string_view word, const std::vector<std::string>& known);
/// "; did you mean 'conv'?" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);
/// The same for a key of a network file, or why those libraries have such a key and these files do not.
std::string key_meant(std::string_view key, const std::vector<std::string>& known);

}  // namespace lethe
