#include "train/data/unicode_forms.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <vector>

#include "train/data/unicode.h"
#include "train/data/unicode_tables.h"

namespace lethe {
namespace {

using Codes = std::vector<char32_t>;

/// Stands for a byte that belongs to no character: no table has it.
constexpr char32_t kNoCharacter = 0x110000;
/// No character below is a mark on others, and only some from U+00C0 on can be taken apart.
constexpr char32_t kFirstMark = 0x300, kFirstWhole = 0xc0;

/// The numbers of a table, `N` at a time.
template <std::size_t N>
std::vector<std::array<char32_t, N>> rows_of(const char* table) {
  std::vector<std::array<char32_t, N>> rows;
  while (*table != '\0') {
    std::array<char32_t, N>& row = rows.emplace_back();
    for (char32_t& number : row) {
      char* end = nullptr;
      number = static_cast<char32_t>(std::strtoul(table, &end, 36));
      table = end + (*end == ' ' ? 1 : 0);
    }
  }
  return rows;
}

class CharSet {
 public:
  explicit CharSet(const char* table) {
    char32_t after = 0;
    for (const auto& [before, more] : rows_of<2>(table)) {
      ranges_.push_back({after + before, after + before + more});
      after = ranges_.back().last;
    }
  }
  bool has(char32_t code) const {
    const auto next = std::ranges::upper_bound(ranges_, code, {}, &CharRange::first);
    return next != ranges_.begin() && code <= (next - 1)->last;
  }

 private:
  std::vector<CharRange> ranges_;
};

/// Parts of characters, one or two of each, and what two parts become.
struct Canonical {
  std::unordered_map<char32_t, std::array<char32_t, 2>> parts;
  std::map<std::array<char32_t, 2>, char32_t> whole;
};

const Canonical& canonical() {
  static const Canonical tables = [] {
    Canonical made;
    char32_t code = 0;
    for (const auto& [step, first, second] : rows_of<3>(unicode_tables::canonical_pairs())) {
      code += step / 2;
      made.parts[code] = {first, second};
      if (step % 2 == 0) made.whole[{first, second}] = code;
    }
    return made;
  }();
  return tables;
}

/// The combining class: 0 of what stands for itself.
char32_t combining_class(char32_t code) {
  static const auto classes = [] {
    std::unordered_map<char32_t, char32_t> made;
    char32_t after = 0;
    for (const auto& [before, more, number] : rows_of<3>(unicode_tables::combining_classes())) {
      for (char32_t i = 0; i <= more; ++i) made[after + before + i] = number;
      after += before + more;
    }
    return made;
  }();
  if (code < kFirstMark) return 0;
  const auto found = classes.find(code);
  return found == classes.end() ? 0 : found->second;
}

/// Korean syllables are of two or three letters, by a formula (The Unicode Standard, 3.12).
constexpr char32_t kSyllables = 0xac00, kLeading = 0x1100, kVowels = 0x1161, kTrailing = 0x11a7;
constexpr char32_t kLeadingCount = 19, kVowelCount = 21, kTrailingCount = 28;
constexpr char32_t kSyllableCount = kLeadingCount * kVowelCount * kTrailingCount;

void append_parts(char32_t code, Codes& all) {
  if (code < kFirstWhole) return all.push_back(code);
  if (const char32_t syllable = code - kSyllables; syllable < kSyllableCount) {
    all.push_back(kLeading + syllable / (kVowelCount * kTrailingCount));
    all.push_back(kVowels + syllable / kTrailingCount % kVowelCount);
    if (syllable % kTrailingCount != 0) all.push_back(kTrailing + syllable % kTrailingCount);
    return;
  }
  const auto found = canonical().parts.find(code);
  if (found == canonical().parts.end()) return all.push_back(code);
  append_parts(found->second[0], all);
  if (found->second[1] != 0) all.push_back(found->second[1]);
}

/// Normal form D: all characters taken apart, marks on a letter by their classes.
Codes apart(const Codes& text) {
  Codes all;
  for (const char32_t code : text) append_parts(code, all);
  for (auto begin = all.begin(); begin != all.end();) {
    const auto is_mark = [](char32_t code) { return combining_class(code) != 0; };
    begin = std::find_if(begin, all.end(), is_mark);
    const auto end = std::find_if_not(begin, all.end(), is_mark);
    std::ranges::stable_sort(begin, end, {}, combining_class);
    begin = end;
  }
  return all;
}

/// What two characters side by side become; 0: they stay two.
char32_t whole_of(char32_t first, char32_t second) {
  if (second < kFirstMark) return 0;
  const char32_t leading = first - kLeading, vowel = second - kVowels;
  if (leading < kLeadingCount && vowel < kVowelCount)
    return kSyllables + (leading * kVowelCount + vowel) * kTrailingCount;
  const char32_t syllable = first - kSyllables, trailing = second - kTrailing;
  if (syllable < kSyllableCount && syllable % kTrailingCount == 0 && trailing > 0 && trailing < kTrailingCount)
    return first + trailing;
  const auto found = canonical().whole.find({first, second});
  return found == canonical().whole.end() ? 0 : found->second;
}

/// Puts together what `apart` gave.
Codes together(const Codes& text) {
  Codes all;
  std::ptrdiff_t letter = -1;  // where that stands which marks may go to
  char32_t last_class = 0;     // of what stands between it and the next
  for (const char32_t code : text) {
    const char32_t number = combining_class(code);
    const bool is_next = letter >= 0 && letter + 1 == std::ssize(all), is_free = last_class != 0 && last_class < number;
    if (letter >= 0 && (is_next || is_free))
      if (const char32_t whole = whole_of(all[static_cast<std::size_t>(letter)], code); whole != 0) {
        all[static_cast<std::size_t>(letter)] = whole;
        continue;
      }
    if (number == 0) letter = std::ssize(all);
    last_class = number;
    all.push_back(code);
  }
  return all;
}

Codes codes_of(std::string_view text) {
  Codes codes;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    codes.push_back(character.valid ? character.code : kNoCharacter + character.code);
    at += character.bytes;
  }
  return codes;
}

std::string text_of_codes(const Codes& codes) {
  std::string text;
  for (const char32_t code : codes)
    text += code < kNoCharacter ? utf8_of(code) : std::string(1, static_cast<char>(code - kNoCharacter));
  return text;
}

/// Applies `change(code, all)`, which appends what the character becomes.
template <class Change>
Codes changed(const Codes& text, const Change& change) {
  Codes all;
  for (const char32_t code : text) change(code, all);
  return all;
}

void append_clean(char32_t code, Codes& all) {
  static const CharSet controls(unicode_tables::bert_controls());
  if (code >= kNoCharacter || controls.has(code)) return;
  all.push_back(class_of(code) == CharClass::Space ? U' ' : code);
}

bool is_chinese(char32_t code) {
  constexpr CharRange kChinese[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},  {0x20000, 0x2a6df},
                                    {0x2a700, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};
  return std::ranges::any_of(kChinese, [&](const CharRange& r) { return code >= r.first && code <= r.last; });
}

void append_apart_if_chinese(char32_t code, Codes& all) {
  if (!is_chinese(code)) return all.push_back(code);
  all.insert(all.end(), {U' ', code, U' '});
}

void append_unless_accent(char32_t code, Codes& all) {
  static const CharSet accents(unicode_tables::bert_accents());
  if (!accents.has(code)) all.push_back(code);
}

void append_small(char32_t code, Codes& all) {
  static const auto small = [] {
    std::unordered_map<char32_t, char32_t> made;
    char32_t at = 0;
    for (const auto& [before, more, step, far] : rows_of<4>(unicode_tables::small_letters())) {
      at += before;
      for (char32_t i = 0; i <= more; ++i, at += step) made[at] = far % 2 ? at - far / 2 : at + far / 2;
      at -= step;
    }
    return made;
  }();
  if (code == 0x130) return void(all.insert(all.end(), {U'i', char32_t{0x307}}));  // the one that becomes two
  const auto found = small.find(code);
  all.push_back(found == small.end() ? code : found->second);
}

}  // namespace

std::string composed(std::string_view text) {
  // Characters below U+0300, which begin with a byte below 0xcc, are as they should be and nothing joins them.
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0xcc; })) return std::string(text);
  return text_of_codes(together(apart(codes_of(text))));
}

std::string in_bert_form(std::string_view text, const BertForm& form) {
  Codes codes = codes_of(text);
  if (form.clean) codes = changed(codes, append_clean);
  if (form.chinese) codes = changed(codes, append_apart_if_chinese);
  if (form.strip) codes = changed(apart(codes), append_unless_accent);
  if (form.small) codes = changed(codes, append_small);
  return text_of_codes(codes);
}

bool is_bert_mark(char32_t code) {
  static const CharSet marks(unicode_tables::bert_marks());
  return marks.has(code);
}

}  // namespace lethe
