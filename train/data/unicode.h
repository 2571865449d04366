// Characters of text in UTF-8, and the classes of them by which GPT-2 cuts text in words.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lethe {

/// Unicode's general categories L and N, its property White_Space, and all else.
enum class CharClass : std::uint8_t { Letter, Number, Space, Other };

struct Character {
  char32_t code = 0;      // of a byte that belongs to no character: the byte
  std::size_t bytes = 0;  // that it takes
  bool valid = false;     // false: the byte belongs to no character
  CharClass kind = CharClass::Other;
};
/// The one that begins at `at`, which must be within the text. Bytes that are no UTF-8 stand alone, each as Other.
Character character_at(std::string_view text, std::size_t at);

std::string utf8_of(char32_t code);

CharClass class_of(char32_t code);

/// First and last of a run of characters.
struct CharRange {
  char32_t first, last;
};
/// The ranges of a class in ascending order; the other classes need no table.
std::span<const CharRange> letter_ranges();
std::span<const CharRange> number_ranges();

}  // namespace lethe
