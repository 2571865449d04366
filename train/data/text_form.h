// What a text becomes before it is cut in words.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "train/data/unicode_forms.h"

namespace lethe {

struct TextForm {
  enum class Kind : std::uint8_t { AsItIs, Composed, Bert, PieceBlanks };
  /// Where a blank is put before the text: nowhere, before each part of it between added tokens, before each that does
  /// not begin with one, or before the first of those alone.
  enum class Blank : std::uint8_t { None, Each, EachWithout, FirstWithout };

  Kind kind = Kind::AsItIs;
  BertForm bert = {};
  Blank blank = Blank::None;

  /// The form of a part, or of what `begins` no part but goes on with it; `held` has it if it is not the part itself.
  std::string_view of(std::string_view part, bool begins, bool is_first, std::string& held) const;
};

}  // namespace lethe
