#include "framework/error.h"

namespace lethe {

std::string shortened(std::string_view text, std::size_t most) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };  // a character of UTF-8
  std::size_t length = 0, characters = 0;
  for (; length < text.size(); ++length)
    if (!continues(text[length]) && ++characters > most) break;
  const std::string shown = in_one_line(std::string(text.substr(0, length)));
  return length < text.size() ? shown + "..." : shown;
}

std::string joined(const std::vector<std::string>& words) {
  constexpr std::size_t kMost = 100;
  std::string all;
  for (std::size_t i = 0; i < words.size() && i < kMost; ++i)
    all.append(i == 0 ? "" : ", ").append(shortened(words[i]));
  return words.size() > kMost ? all + ", ..." : all;
}

std::string quote(std::string_view text) { return std::string("'").append(shortened(text)).append("'"); }

}  // namespace lethe
