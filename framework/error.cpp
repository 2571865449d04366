#include "framework/error.h"

#include <charconv>

namespace lethe {

std::string in_one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
  return text;
}

Error::Error(const std::string& message, Exit code) : std::runtime_error(in_one_line(message)), code(code) {}

void MessagePart::append_to(std::string& all) const {
  char digits[32];
  switch (kind_) {
    case Kind::Text:
      all += text_;
      return;
    case Kind::Char:
      all += char_;
      return;
    case Kind::Integer:
      all += std::to_string(integer_);
      return;
    case Kind::Count:
      all += std::to_string(count_);
      return;
    case Kind::Real:
      all.append(digits, std::to_chars(digits, digits + sizeof digits, real_, std::chars_format::general, 6).ptr);
  }
}

std::string message_of(MessageParts parts) {
  std::string all;
  for (const MessagePart& part : parts) part.append_to(all);
  return all;
}

void fail_with(Exit code, MessageParts parts) { throw Error(message_of(parts), code); }

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
