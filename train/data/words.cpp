#include "train/data/words.h"

#include <algorithm>

#include "train/data/unicode.h"
#include "train/data/unicode_forms.h"

namespace lethe {
namespace {

constexpr std::string_view kEndings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};

/// The length of an ending of English that the text begins with; 0 if there is none.
std::size_t ending_length(std::string_view rest) {
  for (const std::string_view ending : kEndings)
    if (rest.starts_with(ending)) return ending.size();
  return 0;
}

/// The same for large letters, too, one of which is an old form of s.
std::size_t any_ending_length(std::string_view rest) {
  if (rest.empty() || rest[0] != '\'') return 0;
  if (rest.starts_with("'\xc5\xbf")) return 3;
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (const std::string_view ending : kEndings)
    if (std::ranges::equal(rest.substr(0, ending.size()), ending, {}, small)) return ending.size();
  return 0;
}

bool is_line_end(char32_t code) { return code == '\n' || code == '\r'; }

/// Where a run of characters ends that `belongs` takes.
template <class Belongs>
std::size_t run_end(std::string_view text, std::size_t at, const Belongs& belongs) {
  while (at < text.size()) {
    const Character next = character_at(text, at);
    if (!belongs(next)) break;
    at += next.bytes;
  }
  return at;
}

/// Where white space ends that begins at `at`: before its last character if it has several and more text follows. With
/// numbers apart the text ends before them.
template <bool kNumbersApart = false>
std::size_t white_end(std::string_view text, std::size_t at) {
  std::size_t end = at, last = at;  // where the last character begins
  while (end < text.size()) {
    const Character next = character_at(text, end);
    if (kNumbersApart && next.kind == CharClass::Number) return end;
    if (next.kind != CharClass::Space) return last > at ? last : end;
    last = end;
    end += next.bytes;
  }
  return end;
}

template <bool kNumbersApart>
std::size_t gpt2_word(std::string_view text, std::size_t at) {
  if (const std::size_t ending = ending_length(text.substr(at))) return ending;
  const std::size_t begin = at + (text[at] == ' ' && at + 1 < text.size() ? 1 : 0);  // one blank may stand before
  const Character first = character_at(text, begin);
  if (first.kind == CharClass::Space) return white_end<kNumbersApart>(text, at) - at;
  if (kNumbersApart && first.kind == CharClass::Number) return begin > at ? 1 : first.bytes;
  return run_end(text, begin + first.bytes, [&](const Character& c) { return c.kind == first.kind; }) - at;
}

template <int kMostNumbers>
std::size_t llama3_word(std::string_view text, std::size_t at) {
  if (const std::size_t ending = any_ending_length(text.substr(at))) return ending;
  const auto is_letter = [](const Character& c) { return c.kind == CharClass::Letter; };
  const auto is_other = [](const Character& c) { return c.kind == CharClass::Other; };
  const Character first = character_at(text, at);
  const std::size_t next = at + first.bytes;
  const bool has_next = next < text.size();
  if (is_letter(first)) return run_end(text, next, is_letter) - at;
  if (first.kind == CharClass::Number) {
    int numbers = 0;
    return run_end(text, at,
                   [&](const Character& c) { return c.kind == CharClass::Number && numbers++ < kMostNumbers; }) -
           at;
  }
  if (!is_line_end(first.code) && has_next && is_letter(character_at(text, next)))
    return run_end(text, next, is_letter) - at;
  if (is_other(first) || (first.code == ' ' && has_next && is_other(character_at(text, next)))) {
    const std::size_t end = run_end(text, next, is_other);
    return run_end(text, end, [](const Character& c) { return is_line_end(c.code); }) - at;
  }
  std::size_t here = at, after_lines = at;  // after the last line end of the white space
  run_end(text, at, [&](const Character& c) {
    here += c.bytes;
    if (is_line_end(c.code)) after_lines = here;
    return c.kind == CharClass::Space;
  });
  return (after_lines > at ? after_lines : white_end(text, at)) - at;
}

}  // namespace

std::size_t word_of_gpt2(std::string_view text, std::size_t at) { return gpt2_word<false>(text, at); }
std::size_t word_of_smollm2(std::string_view text, std::size_t at) { return gpt2_word<true>(text, at); }
std::size_t word_of_llama3(std::string_view text, std::size_t at) { return llama3_word<3>(text, at); }
std::size_t word_of_qwen2(std::string_view text, std::size_t at) { return llama3_word<1>(text, at); }

std::size_t word_of_bert(std::string_view text, std::size_t at) {
  const auto is_white = [](const Character& c) { return c.kind == CharClass::Space; };
  const Character first = character_at(text, at);
  if (is_bert_mark(first.code)) return first.bytes;
  if (is_white(first)) return run_end(text, at, is_white) - at;
  return run_end(text, at, [&](const Character& c) { return !is_white(c) && !is_bert_mark(c.code); }) - at;
}

std::size_t word_of_pieces(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (text.substr(begin).starts_with(kPieceBlank)) begin += kPieceBlank.size();
  return std::min(text.find(kPieceBlank, begin), text.size()) - at;
}

std::size_t word_of_metaspace(std::string_view text, std::size_t at) {
  return std::min(text.find(kPieceBlank, at + 1), text.size()) - at;
}

std::size_t whole_text(std::string_view text, std::size_t at) { return text.size() - at; }

}  // namespace lethe
