#include "train/data/unicode.h"

#include <algorithm>
#include <array>

namespace lethe {
namespace {

bool is_in(std::span<const CharRange> ranges, char32_t code) {
  const auto after = std::ranges::upper_bound(ranges, code, {}, &CharRange::first);
  return after != ranges.begin() && code <= (after - 1)->last;
}

bool is_space(char32_t code) {
  return (code >= 9 && code <= 13) || code == ' ' || code == 0x85 || code == 0xa0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
         code == 0x3000;
}

CharClass found_class_of(char32_t code) {
  if (is_space(code)) return CharClass::Space;
  if (is_in(letter_ranges(), code)) return CharClass::Letter;
  return is_in(number_ranges(), code) ? CharClass::Number : CharClass::Other;
}

/// How many bytes a character takes that begins with this one, and its bits of that; 0 bytes: none begins so.
struct Lead {
  std::size_t bytes;
  char32_t bits;
};
Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, byte};
  if (byte >= 0xc2 && byte < 0xe0) return {2, byte & 0x1fu};
  if (byte >= 0xe0 && byte < 0xf0) return {3, byte & 0x0fu};
  if (byte >= 0xf0 && byte < 0xf5) return {4, byte & 0x07u};
  return {0, 0};
}

}  // namespace

CharClass class_of(char32_t code) {
  // Those that need one byte or two are looked up in a table.
  static const auto table = [] {
    std::array<CharClass, 0x800> classes{};
    for (char32_t c = 0; c < classes.size(); ++c) classes[c] = found_class_of(c);
    return classes;
  }();
  return code < table.size() ? table[code] : found_class_of(code);
}

Character character_at(std::string_view text, std::size_t at) {
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // that needs so many bytes
  const auto first = static_cast<unsigned char>(text[at]);
  const Character alone{.code = first, .bytes = 1};
  auto [bytes, code] = lead_of(first);
  if (bytes == 0 || bytes > text.size() - at) return alone;
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[at + i]);
    if ((next & 0xc0) != 0x80) return alone;
    code = code << 6 | (next & 0x3fu);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[bytes] || surrogate || code > 0x10ffff) return alone;
  return {.code = code, .bytes = bytes, .valid = true, .kind = class_of(code)};
}

std::string utf8_of(char32_t code) {
  const auto low = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), low(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), low(6), low(0)};
  return {static_cast<char>(0xf0 | code >> 18), low(12), low(6), low(0)};
}

}  // namespace lethe
