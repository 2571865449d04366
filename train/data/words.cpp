#include "train/data/words.h"

#include "train/data/unicode.h"

namespace lethe {
namespace {

/// Of one of the endings of English; 0 if there is none.
std::size_t ending_length(std::string_view rest) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (rest.starts_with(ending)) return ending.size();
  return 0;
}

}  // namespace

std::size_t word_length(std::string_view text, std::size_t at) {
  if (const std::size_t ending = ending_length(text.substr(at))) return ending;
  std::size_t end = at + (text[at] == ' ' && at + 1 < text.size() ? 1 : 0);  // one blank may stand before a word
  const CharClass kind = character_at(text, end).kind;
  if (kind == CharClass::Space) end = at;
  std::size_t last = end;  // where the last character begins
  while (end < text.size()) {
    const Character next = character_at(text, end);
    if (next.kind != kind) break;
    last = end;
    end += next.bytes;
  }
  const bool leaves_one = kind == CharClass::Space && end < text.size() && last > at;
  return (leaves_one ? last : end) - at;
}

}  // namespace lethe
