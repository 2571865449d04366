// Numbers of models in network files.
#pragma once
#include <charconv>
#include <cstdlib>
#include <string>

namespace lethe::onnx {

/// A float as whoever wrote it said it: the shortest number that is rounded to it (1e-05 instead of 9.99999975e-06).
inline double as_written(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text - 1, value).ptr;
  return std::strtod(std::string(text, end).c_str(), nullptr);
}

}  // namespace lethe::onnx
