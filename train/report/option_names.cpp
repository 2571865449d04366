#include "train/report/option_names.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "framework/program_name.h"

namespace lethe {
namespace {

constexpr std::string_view kCall = "train ";

bool is_field(const std::string& word) {
  const auto fits = [](unsigned char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !word.empty() && std::ranges::all_of(word, fits);
}

std::function<void(const std::string& line)>& listener() {
  static std::function<void(const std::string& line)> one;
  return one;
}

}  // namespace

std::string with_options(const std::string& text) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '`' ? text.find('`', at + 1) : std::string::npos;
    std::string word = end == std::string::npos ? "" : text.substr(at + 1, end - at - 1);
    if (word.starts_with(kCall)) {
      all.append(program_name()).append(" ").append(word, kCall.size());
    } else if (is_field(word)) {
      std::ranges::replace(word, '_', '-');
      all.append("--").append(word);
    } else {
      all += text[at++];
      continue;
    }
    at = end + 1;
  }
  return all;
}

void say(const std::string& line) {
  if (listener())
    listener()(with_options(line));
  else
    std::fprintf(stderr, "%s\n", with_options(line).c_str());
}

void say_to(std::function<void(const std::string& line)> to) { listener() = std::move(to); }
bool is_said_elsewhere() { return static_cast<bool>(listener()); }

}  // namespace lethe
