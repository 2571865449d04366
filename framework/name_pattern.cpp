#include "framework/name_pattern.h"

#include <algorithm>
#include <sstream>

#include "framework/error.h"

namespace lethe {

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = pattern.size(), after_star = 0;  // the last `*`, and where what follows it was tried
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star < pattern.size()) {
      p = star + 1;
      n = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::string layer_pattern(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(0, dot) + ".*";
}

std::vector<std::string> patterns_in(const std::string& list) {
  std::vector<std::string> patterns;
  std::istringstream in(list);
  for (std::string pattern; std::getline(in, pattern, ',');)
    if (!pattern.empty()) patterns.push_back(pattern);
  return patterns;
}

std::vector<std::string> patterns_given(const std::string& list, const std::string& setting) {
  std::vector<std::string> patterns = patterns_in(list);
  check(list.empty() || !patterns.empty(), setting, ": ", quote(list), " names no pattern");
  return patterns;
}

std::string some_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
    text.append(i > 0 ? ", " : "").append("'").append(names[i]).append("'");
  return names.size() > kMostNamed ? message(text, " and ", names.size() - kMostNamed, " more") : text;
}

}  // namespace lethe
