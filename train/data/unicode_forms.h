// Forms that texts are brought into before they become tokens. Bytes that are no UTF-8 stay as they are.
#pragma once
#include <string>
#include <string_view>

namespace lethe {

/// Unicode's normal form C (UAX #15): "e" and an accent after it become one character.
std::string composed(std::string_view text);

/// What BERT's rule changes, in this order.
struct BertForm {
  bool clean = true;    // controls go, and so do bytes that are no UTF-8; white space becomes blanks
  bool chinese = true;  // a blank before and after each Chinese character
  bool strip = true;    // accents go
  bool small = true;    // capitals become small letters
};
std::string in_bert_form(std::string_view text, const BertForm& form);

/// Whether BERT's rule takes it as a mark, which is a word of its own.
bool is_bert_mark(char32_t code);

}  // namespace lethe
