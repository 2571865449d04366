// What PyTorch, Keras and ONNX call what network files and options name.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace lethe {

/// Words here that may be meant by one of theirs: a key, a layer, a loss or a setting; the likeliest first. Neither
/// case nor '-' for '_' matters.
std::vector<std::string> words_for(std::string_view theirs);
/// Of a key that they have and network files do without: why; else "".
std::string why_absent(std::string_view key);

}  // namespace lethe
