// Values that begin with '=' in network files: whole numbers and numbers over names, decided when the network is built.
//
//   comparison: sum [("==" | "!=" | "<" | "<=" | ">" | ">=") sum]     gives 1 or 0
//   sum:        product {("+" | "-") product}
//   product:    factor {("*" | "/" | "%") factor}
//   factor:     "-" factor | ["sqrt"] "(" comparison ")" | number | name
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "framework/language/attrs.h"

namespace lethe {

/// What names stand for: whole numbers (true and false are 1 and 0), numbers, text.
using Bindings = std::map<std::string, Attr>;

/// The value of `text` (without the '='). Whole numbers stay whole: `/` between them must come out even, `%` has the
/// sign of the divisor, and more than 64 bits is an error. Text may only be passed on ("=init"), not computed with.
Attr evaluate(std::string_view text, const Bindings& values);

/// A value as the command line gives it: true, false, a number, else text.
Attr parse_value(const std::string& text);

}  // namespace lethe
