#include "train/data/meaning.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "train/data/vocabulary.h"

namespace lethe {
namespace {

std::string shown_symbols(const Meaning& meaning) {
  if (!meaning.tokenizer.empty()) return meaning.tokenizer;
  if (meaning.alphabet.empty()) return "nothing";
  std::string text;
  for (const char byte : meaning.alphabet) text += byte == ' ' ? " " : shown_byte(byte);
  return message("the ", meaning.alphabet.size(), " characters ", quote(shortened(text, 100)));
}

}  // namespace

void check_means(const Meaning& known, const Meaning& found, const std::string& data) {
  if (!known.classes.empty() && found.classes != known.classes) {
    const auto differ = std::ranges::mismatch(known.classes, found.classes);
    const std::string here =
        differ.in2 == found.classes.end() ? "no class" : message("class ", quote(shortened(*differ.in2)));
    const std::string there =
        differ.in1 == known.classes.end() ? "none" : message("class ", quote(shortened(*differ.in1)));
    fail_as(Exit::Data, data, ": has ", here, " where the run has ", there, "; the run knows ", joined(known.classes));
  }
  const bool has_symbols = !known.alphabet.empty() || !known.tokenizer.empty();
  check_as(Exit::Data, !has_symbols || (found.alphabet == known.alphabet && found.tokenizer == known.tokenizer), data,
           ": symbols stand for ", shown_symbols(found), ", those of the run for ", shown_symbols(known));
}

}  // namespace lethe
