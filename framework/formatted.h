// Text by a pattern of printf's.
#pragma once
#include <cstdio>
#include <string>

namespace lethe {

/// At most 159 characters.
template <class... Values>
std::string formatted(const char* pattern, Values... values) {
  char text[160];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

}  // namespace lethe
