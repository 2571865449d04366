#include "train/data/text_form.h"

#include "train/data/words.h"

namespace lethe {

std::string_view TextForm::of(std::string_view part, bool begins, bool is_first, std::string& held) const {
  if (part.empty()) return part;
  const std::string_view own_blank = kind == Kind::PieceBlanks ? kPieceBlank : " ";
  const bool has_blank = part[0] == ' ' || part.starts_with(own_blank);
  const bool puts_blank = begins && (blank == Blank::Each || (blank == Blank::EachWithout && !has_blank) ||
                                     (blank == Blank::FirstWithout && is_first && !has_blank));
  if (kind == Kind::AsItIs && !puts_blank) return part;
  held.assign(puts_blank ? own_blank : "");
  if (kind == Kind::AsItIs) held += part;
  if (kind == Kind::Composed) held += composed(part);
  if (kind == Kind::Bert) held += in_bert_form(part, bert);
  if (kind != Kind::PieceBlanks) return held;
  for (const char byte : part)
    if (byte == ' ')
      held += kPieceBlank;
    else
      held += byte;
  return held;
}

}  // namespace lethe
